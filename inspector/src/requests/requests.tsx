// What was recorded of a conversation's requests: all of them, or one.

import type { RequestsPlace } from '../state'
import { RequestList } from './list'
import { RequestPage } from './page'

export function Requests({ id, place: { number } }: { id: string; place: RequestsPlace }) {
  return (
    <main class="requests-page" aria-label="Requests">
      <div class="requests-inner" tabIndex={-1}>
        {number === null ? (
          <RequestList key={id} id={id} />
        ) : (
          <RequestPage key={`${id}/${number}`} id={id} number={number} />
        )}
      </div>
    </main>
  )
}

// The versions as a list, the newest first, around the one that is shown; and the batches one can return to.

import { useEffect } from 'preact/hooks'
import { ask } from '../operate/sheet_state'
import {
  choose,
  client,
  conversation,
  head,
  shownVersion,
  versions,
  versionsChanged,
} from '../state'
import { kindOf } from '../model/timeline'
import { compareWith } from './changes'
import { useFetched } from './fetched'
import { tab } from './panel'
import { count, plural, when } from './words'

const around = 60

export function VersionList() {
  versionsChanged.value
  const about = conversation.value
  const at = shownVersion.value
  const [first, last] = [Math.max(0, at - around), Math.min(head.value, at + around)]
  useEffect(() => {
    void versions.load(first, last)
  }, [first, last, about?.id])
  const entries = versions.between(first, last).reverse()
  return (
    <>
      <Batches />
      <h3>Versions</h3>
      <ol class="versions" reversed>
        {entries.map(entry => (
          <li key={entry.version} class={entry.version === at ? 'version-row at' : 'version-row'}>
            <button
              type="button"
              class="version-go"
              aria-current={entry.version === at ? 'true' : undefined}
              onClick={() => choose(entry.version)}
            >
              <span class="version-number">{count(entry.version)}</span>
              <span class={`dot kind-${kindOf(entry.operation)}`} aria-hidden="true" />
              <span class="version-what">
                {entry.operation ?? 'start'}
                {entry.restores !== undefined && ` → ${entry.restores}`}
                {entry.description && (
                  <span class="quiet" dir="auto">
                    {' '}
                    {entry.description}
                  </span>
                )}
              </span>
              <span class="quiet version-sums" title={when(entry.timestamp)}>
                {count(entry.tokens)}
              </span>
            </button>
            {entry.version !== at && (
              <button
                type="button"
                class="version-compare"
                onClick={() => (compareWith(entry.version), (tab.value = 'changes'))}
                aria-label={`Compare version ${entry.version} with version ${at}`}
              >
                Compare
              </button>
            )}
          </li>
        ))}
      </ol>
    </>
  )
}

function Batches() {
  const about = conversation.value
  const id = about?.id ?? ''
  const { value: batches } = useFetched(() => client.batches(id), [id, head.value])
  const current = about?.stats.currentBatchIndex ?? 0
  return (
    <>
      <h3>
        Batches <span class="quiet">of the head</span>
      </h3>
      <ol class="batches">
        {(batches ?? []).map(batch => (
          <li key={batch.index}>
            <span class="version-number">{batch.index}</span>
            <span class="version-what">
              {batch.openedBy ?? 'start'}
              {batch.description && (
                <span class="quiet" dir="auto">
                  {' '}
                  {batch.description}
                </span>
              )}
            </span>
            <span class="quiet">{plural(batch.messageCount, 'message')}</span>
            {batch.index < current ? (
              <button
                type="button"
                onClick={() => ask('ROLLBACK', { targetBatchIndex: String(batch.index) })}
                aria-label={`Roll back to batch ${batch.index}`}
              >
                Roll back
              </button>
            ) : (
              <span class="quiet">current</span>
            )}
          </li>
        ))}
      </ol>
      {(about?.forks.length ?? 0) > 0 && (
        <>
          <h3>Forks</h3>
          <ul class="forks">
            {about?.forks.map(fork => (
              <li key={fork.id}>
                <a href={`#/${encodeURIComponent(fork.id)}`}>{fork.id}</a>{' '}
                <span class="quiet">from version {count(fork.version)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

// What the difference did to the provider's prompt cache, in a sentence.

import type { CacheBreak, RequestUsage } from '../api/types'
import { count, plural } from '../view/words'

export function CacheVerdict({
  against,
  cache,
  usage,
}: {
  against: number
  cache: CacheBreak
  usage: RequestUsage | undefined
}) {
  return (
    <div class={`verdict verdict-${cache.kind}`}>
      <p>
        <Sentence against={against} cache={cache} />
      </p>
      {cache.bytes !== undefined && (
        <Equal equal={cache.equalBytes ?? 0} all={cache.bytes} usage={usage} />
      )}
      {cache.kind === 'broken' && <Place at={cache} />}
      {usage && (
        <p class="quiet">
          The provider read {count(usage.cached)} of {plural(usage.prompt, 'token')} from its cache.
        </p>
      )}
    </div>
  )
}

function Sentence({ against, cache }: { against: number; cache: CacheBreak }) {
  switch (cache.kind) {
    case 'broken':
      return (
        <>
          <strong>The cache breaks at</strong> <code class="path">{cache.path}</code>
          {!!cache.byteInValue && <>, after byte {count(cache.byteInValue)} of it</>}
          {cache.was !== cache.path && (
            <>
              , where request {count(against)} had <code class="path">{cache.was}</code>
            </>
          )}
          .
        </>
      )
    case 'extended':
      return (
        <>
          <strong>The cache holds.</strong> Request {count(against)} is the beginning of this one;
          new from <code class="path">{cache.path}</code> on.
        </>
      )
    case 'shortened':
      return (
        <>
          <strong>The cache holds.</strong> This one ends earlier: request {count(against)} went on
          with <code class="path">{cache.path}</code>.
        </>
      )
    case 'same':
      return (
        <>
          <strong>The cache holds.</strong> The model reads the same as in request {count(against)}.
        </>
      )
    case 'reference':
      return (
        <>
          <code class="path">{cache.path}</code> refers to what the provider has of earlier
          requests; this one holds only what is new.
        </>
      )
    case 'unknown':
      return <>The order in which the provider caches is not known for these two.</>
  }
}

// Bytes of the request as the cache sees it: in the provider's order, compact, without markers. Tokens in proportion to them.
function Equal({
  equal,
  all,
  usage,
}: {
  equal: number
  all: number
  usage: RequestUsage | undefined
}) {
  const share = all > 0 ? equal / all : 1
  return (
    <p class="equal">
      <progress max={1} value={share} aria-label={`${Math.floor(100 * share)} percent equal`} />
      {count(equal)} of {plural(all, 'byte')} before it stayed equal ({Math.floor(100 * share)}%
      {usage && usage.prompt > 0 && <>, about {count(Math.round(usage.prompt * share))} tokens</>}).
    </p>
  )
}

function Place({ at }: { at: CacheBreak }) {
  return (
    <pre class="excerpt" tabIndex={0} aria-label="Where the cache breaks">
      <Line sign="removed" same={at.same ?? ''} text={at.before ?? ''} />
      <Line sign="added" same={at.same ?? ''} text={at.after ?? ''} />
    </pre>
  )
}

function Line({ sign, same, text }: { sign: 'added' | 'removed'; same: string; text: string }) {
  return (
    <span class={`excerpt-line line-${sign}`}>
      <span class={`sign sign-${sign}`}>{sign === 'added' ? '+' : '−'}</span>{' '}
      <span class="quiet">{same}</span>
      {text ? <mark>{text}</mark> : <span class="quiet">(ends here)</span>}
      {'\n'}
    </span>
  )
}

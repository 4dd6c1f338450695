// One request: its facts, what differs from an earlier one, what that did to the provider's cache, and both texts as they were sent.

import { useState } from 'preact/hooks'
import type { RequestRecord } from '../api/types'
import { conversation, placeOf } from '../state'
import { useFetched } from '../view/fetched'
import { count, duration, size, when } from '../view/words'
import { CacheVerdict } from './cache_verdict'
import { Differences } from './differences'
import { Share, Status } from './list'
import { Raw } from './raw'
import { readRequest } from './read'

export function RequestPage({ id, number }: { id: string; number: number }) {
  const [against, setAgainst] = useState<number | null>(null)
  const { value, error } = useFetched(
    () => readRequest({ id, number, against }),
    [id, number, against],
    against === null ? 0 : 300,
  )
  const choose = (text: string) =>
    setAgainst(/^\d{1,15}$/.test(text) && Number(text) > 0 ? Number(text) : null)
  const compared = value?.comparison
  return (
    <>
      <header class="requests-head">
        <a href={placeOf(id, null, { number: null })}>All requests</a>
        <h2>Request {count(number)}</h2>
        <nav class="requests-steps" aria-label="Requests">
          {number > 1 && <a href={placeOf(id, null, { number: number - 1 })}>Earlier</a>}
          {value?.hasLater && <a href={placeOf(id, null, { number: number + 1 })}>Later</a>}
        </nav>
      </header>
      {error && <p class="failed">{error}</p>}
      {!value && !error && <p class="quiet">Loading…</p>}
      {value && (
        <>
          <Facts id={id} record={value.record} />
          <section aria-labelledby="against-title">
            <div class="request-head">
              <h3 id="against-title">
                {compared
                  ? `Against request ${count(compared.against)}`
                  : 'Against an earlier request'}
              </h3>
              <label class="against">
                Compare with
                <input
                  type="number"
                  min={1}
                  value={against ?? compared?.against ?? ''}
                  onChange={e => choose(e.currentTarget.value)}
                />
              </label>
            </div>
            {compared ? (
              <>
                <CacheVerdict
                  against={compared.against}
                  cache={compared.cache}
                  usage={value.record.usage}
                />
                <Differences changes={compared.changes} leftOut={compared.changesLeftOut} />
              </>
            ) : (
              <p class={value.notCompared ? 'failed' : 'quiet'}>
                {value.notCompared ||
                  'There is nothing to compare: no earlier request of this kind has a text, or this one has none.'}
              </p>
            )}
          </section>
          <Raw
            title="Request"
            name={`${id}-request-${number}`}
            raw={value.request}
            recorded={value.record.requestBytes}
          />
          <Raw
            title="Answer"
            name={`${id}-answer-${number}`}
            raw={value.answer}
            recorded={value.record.answerBytes}
          />
        </>
      )}
    </>
  )
}

function Facts({ id, record }: { id: string; record: RequestRecord }) {
  const { usage } = record
  const facts: [string, preact.ComponentChild][] = [
    ['Time', when(record.timestamp)],
    ['Model', record.model],
    ['Status', <Status record={record} />],
    ['Tokens in', usage && count(usage.prompt)],
    ['Cached', usage && <Share part={usage.cached} of={usage.prompt} />],
    ['Tokens out', usage && count(usage.completion)],
    ['First byte', record.firstByteMs !== undefined && duration(record.firstByteMs)],
    ['Duration', record.durationMs !== undefined && duration(record.durationMs)],
    ['Client', record.client],
    ['Format', record.dialect],
    ['Kind', record.kind.replace('_', ' ')],
    ['Path', record.path && <code>{[record.method, record.path].filter(Boolean).join(' ')}</code>],
    ['Messages', count(record.messages)],
    ['Size', `${size(record.requestBytes)} in, ${size(record.answerBytes)} out`],
    ['Saw', <VersionLink id={id} version={record.version} />],
    [
      'Answer in',
      record.answerVersion !== undefined && <VersionLink id={id} version={record.answerVersion} />,
    ],
    [
      'Part of',
      record.belongsTo && <a href={placeOf(record.belongsTo, null, null)}>{record.belongsTo}</a>,
    ],
    ['Response id', record.responseId && <code>{record.responseId}</code>],
  ]
  return (
    <dl class="sums facts">
      {facts.map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

function VersionLink({ id, version }: { id: string; version: number }) {
  const isHead = version === conversation.value?.version
  return <a href={placeOf(id, isHead ? null : version, null)}>version {count(version)}</a>
}

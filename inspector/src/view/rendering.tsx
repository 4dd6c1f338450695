// What each provider would be sent, with what was repaired and what was lost on the way.

import { useState } from 'preact/hooks'
import { pretty } from '../api/json'
import type { Finding, Loss } from '../api/types'
import { client, conversation, reveal, shownVersion } from '../state'
import { useFetched } from './fetched'
import { count } from './words'

const shownMax = 60_000

export function Rendering() {
  const id = conversation.value?.id ?? ''
  const version = shownVersion.value
  const { value: known } = useFetched(() => client.dialects(), [])
  const [chosen, setChosen] = useState('dialect:openai_chat')
  const [kind, name] = chosen.split(':')
  const asked = kind === 'profile' ? { profile: name ?? '' } : { dialect: name ?? '' }
  const { value: rendering, error } = useFetched(
    () => client.render(id, { ...asked, atVersion: version }),
    [id, version, chosen],
    80,
  )
  const text = rendering ? pretty(rendering.request) : ''
  const dialects = known?.dialects ?? ['openai_chat', 'openai_responses', 'anthropic', 'gemini']
  return (
    <>
      <label class="dialect">
        As sent to
        <select value={chosen} onChange={e => setChosen(e.currentTarget.value)}>
          <optgroup label="Dialects">
            {dialects.map(dialect => (
              <option key={dialect} value={`dialect:${dialect}`}>
                {dialect}
              </option>
            ))}
          </optgroup>
          {known && known.profiles.length > 0 && (
            <optgroup label="Profiles">
              {known.profiles.map(profile => (
                <option key={profile.name} value={`profile:${profile.name}`}>
                  {profile.name}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      {error && <p class="failed">{error}</p>}
      {rendering && (
        <>
          <Findings
            title="Findings"
            none="Nothing that this provider would refuse."
            findings={rendering.findings}
          />
          <Findings title="Losses" none="Nothing is lost." findings={rendering.losses} />
          {(rendering.advice ?? []).map(advice => (
            <p class="advice" key={advice}>
              {advice}
            </p>
          ))}
          {Object.entries(rendering.toolNames ?? {}).map(([sent, own]) => (
            <p class="advice" key={sent}>
              The tool <code>{own}</code> is sent as <code>{sent}</code>.
            </p>
          ))}
          <div class="request-head">
            <h3>
              Request <span class="quiet">{count(text.length)} characters</span>
            </h3>
            <button type="button" onClick={() => void navigator.clipboard.writeText(text)}>
              Copy
            </button>
          </div>
          <pre class="json request" tabIndex={0} aria-label="The request">
            {text.length > shownMax ? text.slice(0, shownMax) + '\n…' : text}
          </pre>
        </>
      )}
    </>
  )
}

function Findings({
  title,
  none,
  findings,
}: {
  title: string
  none: string
  findings: (Finding | Loss)[]
}) {
  return (
    <section>
      <h3>
        {title} <span class="quiet">{findings.length ? count(findings.length) : ''}</span>
      </h3>
      {findings.length === 0 && <p class="quiet">{none}</p>}
      <ul class="findings">
        {findings.slice(0, 100).map((finding, i) => (
          <li key={i}>
            <code class={`severity-${'severity' in finding ? finding.severity : 'finding'}`}>
              {finding.code}
            </code>{' '}
            {finding.index !== undefined && (
              <button
                type="button"
                class="link"
                onClick={() => (reveal.value = { index: finding.index ?? 0 })}
              >
                #{finding.index}
              </button>
            )}{' '}
            <span dir="auto">{'note' in finding ? finding.note : finding.error}</span>
            {'repair' in finding && <span class="quiet"> {finding.repair}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}

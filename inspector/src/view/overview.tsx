// The start page: what all conversations come to, and which of them are being written.

import { useMemo } from 'preact/hooks'
import type { ListedConversation } from '../api/types'
import { byDay, liveFirst, sumsBy, tokensOf, updatedAt, type Sum } from '../model/overview'
import { StoreLedger } from '../requests/ledger'
import { client, listed, placeOf } from '../state'
import { useFetched } from './fetched'
import { count, dollars, plural, roughly, when } from './words'
import { ColumnHeads } from './column_heads'

const shownMax = 100
const daysMax = 31
const namesMax = 12

export function Overview() {
  // The list at the side is looked at again and again, and changes when there is something new.
  const { value: list, error } = useFetched(() => client.listAll(), [listed.value])
  return (
    <main class="requests-page" aria-label="Overview">
      <div class="requests-inner" tabIndex={-1}>
        {error && <p class="failed">{error}</p>}
        {list ? <Sums list={list} /> : !error && <p class="quiet">Loading…</p>}
        <StoreLedger />
      </div>
    </main>
  )
}

function Sums({ list }: { list: ListedConversation[] }) {
  const told = useMemo(() => list.filter(each => each.about), [list])
  const days = useMemo(() => byDay(told).filter(day => day.name), [told])
  const projects = useMemo(() => most(sumsBy(told, each => each.about?.project ?? '')), [told])
  const models = useMemo(() => most(sumsBy(told, each => each.about?.model ?? '')), [told])
  const [whole] = sumsBy(told, () => '')
  return (
    <>
      <h2>Overview</h2>
      <p>
        {plural(list.length, 'conversation')}
        {whole && `, ${roughly(whole.tokens)} tokens, ${dollars(whole.dollars)}`}
      </p>
      {days.length > 0 && (
        <SumTable
          title="By the day of the last message"
          of="Day"
          sums={days.slice(0, daysMax)}
          left={days.length - daysMax}
        />
      )}
      <Conversations list={list} />
      {projects.length > 1 && <SumTable title="By project" of="Project" sums={projects} left={0} />}
      {models.length > 1 && <SumTable title="By model" of="Model" sums={models} left={0} />}
    </>
  )
}

const most = (sums: Sum[]) => sums.sort((a, b) => b.tokens - a.tokens).slice(0, namesMax)

function SumTable({
  title,
  of,
  sums,
  left,
}: {
  title: string
  of: string
  sums: Sum[]
  left: number
}) {
  const tokensMax = Math.max(1, ...sums.map(sum => sum.tokens))
  const dollarsMax = Math.max(1e-9, ...sums.map(sum => sum.dollars))
  return (
    <section class="ledger overview-sums">
      <h3>{title}</h3>
      <table class="ledger-table">
        <thead>
          <tr>
            <th scope="col">{of}</th>
            <th scope="col">Conversations</th>
            <th scope="col">Tokens</th>
            <th scope="col">Dollars</th>
          </tr>
        </thead>
        <tbody>
          {sums.map(sum => (
            <tr key={sum.name}>
              <th scope="row" dir="auto">
                {sum.name || 'not known'}
              </th>
              <td data-label="Conversations">{count(sum.conversations)}</td>
              <td data-label="Tokens">
                <Bar part={sum.tokens} of={tokensMax} label={`tokens of ${sum.name}`} />
                {roughly(sum.tokens)}
              </td>
              <td data-label="Dollars">
                <Bar part={sum.dollars} of={dollarsMax} label={`dollars of ${sum.name}`} />
                {dollars(sum.dollars)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p class="quiet">and {plural(left, 'earlier day')}</p>}
    </section>
  )
}

function Bar({ part, of, label }: { part: number; of: number; label: string }) {
  return <progress max={of} value={part} aria-label={label} />
}

function Conversations({ list }: { list: ListedConversation[] }) {
  const found = liveFirst(list, Date.now())
  return (
    <section class="ledger overview-list">
      <h3>Conversations</h3>
      <table class="ledger-table">
        <ColumnHeads
          names={['Conversation', 'Project', 'Model', 'Messages', 'Tokens', 'Dollars', 'Updated']}
        />
        <tbody>
          {found.slice(0, shownMax).map(({ each, isLive }) => (
            <tr key={each.id}>
              <th scope="row" dir="auto">
                <a href={placeOf(each.id, null, null)}>{each.about?.title || each.id}</a>
                {isLive && <span class="badge overview-live">live</span>}
              </th>
              <td data-label="Project" dir="auto">
                {each.about?.project.split('/').filter(Boolean).at(-1) ?? ''}
              </td>
              <td data-label="Model" dir="auto">
                {each.about?.model ?? ''}
              </td>
              <td data-label="Messages">{count(each.totalMessages)}</td>
              <td data-label="Tokens">{each.about ? roughly(tokensOf(each)) : ''}</td>
              <td data-label="Dollars">{each.about ? dollars(each.about.cost) : ''}</td>
              <td data-label="Updated">{when(updatedAt(each)).slice(0, 16)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.length > shownMax && (
        <p class="quiet">and {plural(found.length - shownMax, 'older one')}, at the side</p>
      )}
    </section>
  )
}

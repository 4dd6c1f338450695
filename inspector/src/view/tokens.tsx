// Tokens by role over the versions, against the limit; and of each message.

import { useMemo } from 'preact/hooks'
import uPlot from 'uplot'
import { roles } from '../api/types'
import { bars, stacked } from '../model/charts'
import { choose, client, conversation, head, reveal, shownVersion } from '../state'
import { Chart } from './chart'
import { Composed } from './composition'
import { useFetched } from './fetched'
import { count } from './words'

export function Tokens() {
  const id = conversation.value?.id ?? ''
  const version = shownVersion.value
  const limit = conversation.value?.settings.tokenLimit
  const model = conversation.value?.settings.model
  const { value: sums, error } = useFetched(
    () => client.tokens(id, version, true),
    [id, version],
    80,
  )
  const perMessage = useMemo(() => (sums?.messages ?? []).map(message => message.tokens), [sums])
  if (error) return <p class="failed">{error}</p>
  return (
    <>
      <OverTime id={id} limit={limit} />
      <h3>
        By role <span class="quiet">at version {count(version)}</span>
      </h3>
      <table class="by-role">
        <thead>
          <tr>
            <th scope="col">Role</th>
            <th scope="col">Tokens</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {sums &&
            roles.map(role => (
              <tr key={role}>
                <th scope="row">
                  <span class={`swatch swatch-${role}`} aria-hidden="true" /> {role}
                </th>
                <td>{count(sums.byRole[role])}</td>
                <td>{sums.total ? Math.round((100 * sums.byRole[role]) / sums.total) : 0}%</td>
              </tr>
            ))}
        </tbody>
        {sums && (
          <tfoot>
            <tr>
              <th scope="row">all</th>
              <td>{count(sums.total)}</td>
              <td>
                {limit ? `${Math.round((100 * sums.total) / limit)}% of ${count(limit)}` : ''}
              </td>
            </tr>
          </tfoot>
        )}
      </table>
      {sums && (
        <p class="quiet">
          Counted by <code>{sums.tokenizer}</code>, {sums.exact ? 'exactly' : 'estimated'}
          {model && (
            <>
              , for the model <code dir="auto">{model}</code>
            </>
          )}
          .
        </p>
      )}
      <Composed />
      {perMessage.length > 0 && <ByMessage tokens={perMessage} />}
    </>
  )
}

function OverTime({ id, limit }: { id: string; limit: number | undefined }) {
  const { value: points } = useFetched(() => client.timeline(id, 500), [id, head.value], 200)
  const data = useMemo(() => {
    const list = points ?? []
    const rows: uPlot.AlignedData = [
      list.map(point => point.version),
      ...stacked(list),
      ...(limit ? [list.map(() => limit)] : []),
    ]
    return rows
  }, [points, limit])
  if (!points || points.length < 2) return null
  const stripes = (colour: (name: string) => string) => ({
    series: [
      {},
      ...roles.map(role => ({
        label: role,
        stroke: colour(`--role-${role}`),
        width: 1,
        fill: colour(`--fill-${role}`),
        points: { show: false },
      })),
      ...(limit
        ? [
            {
              label: 'limit',
              stroke: colour('--bad'),
              width: 1.5,
              dash: [5, 4],
              points: { show: false },
            },
          ]
        : []),
    ] as uPlot.Series[],
    bands: roles.slice(1).map((_, i) => ({ series: [i + 2, i + 1] as [number, number] })),
  })
  return (
    <>
      <h3>
        Over time <span class="quiet">by version</span>
      </h3>
      <Chart
        label={`Tokens by role over ${count(points.length)} versions${limit ? ', against the limit of ' + count(limit) : ''}`}
        data={data}
        height={170}
        options={stripes}
        onPick={i => choose(points[i]?.version ?? null)}
      />
    </>
  )
}

function ByMessage({ tokens }: { tokens: number[] }) {
  const found = useMemo(() => bars(tokens, 400), [tokens])
  const data = useMemo(() => [found.first, found.most] as uPlot.AlignedData, [found])
  const options = (colour: (name: string) => string) => ({
    series: [
      {},
      {
        label: 'tokens',
        fill: colour('--accent'),
        width: 0,
        paths: uPlot.paths.bars?.({ size: [0.8, 24] }),
        points: { show: false },
      } as uPlot.Series,
    ],
  })
  return (
    <>
      <h3>
        By message{' '}
        <span class="quiet">{found.width > 1 ? `largest of each ${count(found.width)}` : ''}</span>
      </h3>
      <Chart
        label={`Tokens of ${count(tokens.length)} messages`}
        data={data}
        height={140}
        options={options}
        onPick={i => (reveal.value = { index: found.first[i] ?? 0 })}
      />
    </>
  )
}

// What the context is made of at the shown version: by kind, by tool and over the turns, with what a compression would clear first.

import { useMemo } from 'preact/hooks'
import uPlot from 'uplot'
import { ask } from '../operate/sheet_state'
import { composition, kinds, stackedKinds, type Composition, type Kind } from '../model/composition'
import { choose, chosenVersion, client, reveal, shown } from '../state'
import { Chart } from './chart'
import { useFetched } from './fetched'
import { count, plural } from './words'

const rowsMax = 2000 // of the newest messages: what a model sees is rarely more

const names: Record<Kind, string> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  reasoning: 'Reasoning',
  calls: 'Tool calls',
  results: 'Tool results',
  summaries: 'Summaries',
}

export function Composed() {
  const view = shown.value
  const { value: found, error } = useFetched(() => read(view), [view?.id, view?.version], 80)
  if (error) return <p class="failed">{error}</p>
  if (!view || !found || found.total === 0) return null
  const left = Math.max(0, view.count - rowsMax)
  const repeated = found.tools.reduce((sum, tool) => sum + tool.repeated, 0)
  return (
    <>
      <h3>
        Made of{' '}
        <span class="quiet">
          {left > 0
            ? `the newest ${plural(rowsMax, 'message')}`
            : `at version ${count(view.version)}`}
        </span>
      </h3>
      <Strip found={found} />
      <table class="by-role">
        <thead>
          <tr>
            <th scope="col">Kind</th>
            <th scope="col">Tokens</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map(
            kind =>
              found.byKind[kind] > 0 && (
                <Line
                  key={kind}
                  name={names[kind]}
                  swatch={kind}
                  tokens={found.byKind[kind]}
                  total={found.total}
                />
              ),
          )}
        </tbody>
      </table>
      {found.tools.length > 0 && <Tools found={found} />}
      {repeated > 0 && (
        <p class="dead-weight">
          {count(Math.round(repeated))} tokens are results whose call was made again later.{' '}
          {chosenVersion.value === null ? (
            <button type="button" onClick={() => ask('COMPRESS', { way: 'supersede' })}>
              Preview without them
            </button>
          ) : (
            <button type="button" onClick={() => choose(null)}>
              Go to the newest version
            </button>
          )}
        </p>
      )}
      <OverTurns found={found} />
    </>
  )
}

async function read(
  view: { id: string; version: number; count: number } | null,
): Promise<Composition> {
  if (!view) return composition([])
  return composition(
    await client.allRows(
      view.id,
      view.version,
      Math.max(0, view.count - rowsMax),
      view.count,
      new AbortController().signal,
    ),
  )
}

function Line({
  name,
  swatch,
  tokens,
  total,
}: {
  name: string
  swatch: string
  tokens: number
  total: number
}) {
  return (
    <tr>
      <th scope="row">
        <span class={`swatch swatch-${swatch}`} aria-hidden="true" /> {name}
      </th>
      <td>{count(Math.round(tokens))}</td>
      <td>{Math.round((100 * tokens) / total)}%</td>
    </tr>
  )
}

// The whole as one bar.
function Strip({ found }: { found: Composition }) {
  const there = kinds.filter(kind => found.byKind[kind] > 0)
  const label = there
    .map(kind => `${names[kind]} ${Math.round((100 * found.byKind[kind]) / found.total)}%`)
    .join(', ')
  let x = 0
  return (
    <svg class="strip" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
      {there.map(kind => {
        const width = (100 * found.byKind[kind]) / found.total
        const at = x
        x += width
        return <rect key={kind} class={`fill-${kind}`} x={at} y={0} width={width} height={8} />
      })}
    </svg>
  )
}

function Tools({ found }: { found: Composition }) {
  return (
    <table class="by-role">
      <thead>
        <tr>
          <th scope="col">Results of</th>
          <th scope="col">Tokens</th>
          <th scope="col">Share</th>
          <th scope="col">Repeated</th>
        </tr>
      </thead>
      <tbody>
        {found.tools.slice(0, 12).map(tool => (
          <tr key={tool.name}>
            <th scope="row" dir="auto">
              {tool.name} <span class="quiet">× {count(tool.results)}</span>
            </th>
            <td>{count(Math.round(tool.tokens))}</td>
            <td>{Math.round((100 * tool.tokens) / found.total)}%</td>
            <td>{tool.repeated > 0 ? count(Math.round(tool.repeated)) : '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function OverTurns({ found }: { found: Composition }) {
  const { turns } = found
  const data = useMemo(
    () => [turns.map((_, i) => i + 1), ...stackedKinds(turns)] as uPlot.AlignedData,
    [turns],
  )
  if (turns.length < 2) return null
  const options = (colour: (name: string) => string) => ({
    series: [
      {},
      ...kinds.map(kind => ({
        label: names[kind],
        stroke: colour(`--kind-${kind}`),
        width: 1,
        fill: colour(`--kind-fill-${kind}`),
        points: { show: false },
      })),
    ] as uPlot.Series[],
    bands: kinds.slice(1).map((_, i) => ({ series: [i + 2, i + 1] as [number, number] })),
  })
  return (
    <>
      <h3>
        Over the turns <span class="quiet">by kind</span>
      </h3>
      <Chart
        label={`Tokens by kind over ${plural(turns.length, 'turn')}`}
        data={data}
        height={150}
        options={options}
        onPick={i => (reveal.value = { index: turns[i]?.index ?? 0 })}
      />
    </>
  )
}

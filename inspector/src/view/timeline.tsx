// The versions as a line one can scrub: batches as lanes, compressions and returns as what they are, tokens as bars below.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { VersionEntry } from '../api/types'
import { describe, draw, type Drawing, type Kind, type Node } from '../model/timeline'
import { choose, conversation, head, shownVersion, versions, versionsChanged } from '../state'
import { count } from './words'

const shape = { lane: 17, top: 30, lanes: 3 }
const column = { least: 16, most: 30 } // pixels
const barsHeight = 26

const legend: [Kind, string][] = [
  ['append', 'append'],
  ['edit', 'edit'],
  ['compress', 'compress'],
  ['expand', 'expand'],
  ['batch', 'batch'],
  ['back', 'undo, roll back, restore'],
  ['mark', 'mark'],
]

export function Timeline() {
  versionsChanged.value
  const about = conversation.value
  const at = shownVersion.value
  const entry = versions.get(at)
  return (
    <section class="timeline" aria-label="Versions">
      <Graph />
      <div class="scrub">
        <button
          type="button"
          class="icon"
          onClick={() => choose(0)}
          disabled={at === 0}
          aria-label="First version"
        >
          «
        </button>
        <button
          type="button"
          class="icon"
          onClick={() => choose(at - 1)}
          disabled={at === 0}
          aria-label="Version before"
        >
          ‹
        </button>
        <input
          type="range"
          min={0}
          max={head.value}
          step={1}
          value={at}
          disabled={!about}
          aria-label="Version"
          aria-valuetext={entry ? describe(entry) : `version ${at}`}
          onInput={e => choose(Number(e.currentTarget.value))}
        />
        <Player />
        <button
          type="button"
          class="icon"
          onClick={() => choose(at + 1)}
          disabled={at === head.value}
          aria-label="Next version"
        >
          ›
        </button>
        <button
          type="button"
          class="icon"
          onClick={() => choose(null)}
          disabled={at === head.value}
          aria-label="Newest version"
        >
          »
        </button>
        <span class="scrub-at">
          {count(at)} <span class="quiet">/ {count(head.value)}</span>
        </span>
      </div>
      <div class="timeline-foot">
        <p class="told" aria-live="polite" dir="auto">
          {entry ? sentence(entry) : ''}
        </p>
        <ul class="legend" aria-label="Colours">
          {legend.map(([kind, what]) => (
            <li key={kind}>
              <span class={`dot kind-${kind}`} aria-hidden="true" />
              {what}
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}

const stepMs = 700

// From version to version, as it happened; from the beginning where it is at the end.
function Player() {
  const [isPlaying, setPlaying] = useState(false)
  const id = conversation.value?.id
  useEffect(() => setPlaying(false), [id])
  useEffect(() => {
    if (!isPlaying) return
    const timer = window.setInterval(() => {
      choose(shownVersion.value + 1)
      if (shownVersion.value >= head.value) setPlaying(false)
    }, stepMs)
    return () => clearInterval(timer)
  }, [isPlaying])
  const press = () => {
    if (!isPlaying && shownVersion.value >= head.value) choose(0)
    setPlaying(!isPlaying)
  }
  return (
    <button
      type="button"
      class="icon"
      onClick={press}
      disabled={head.value === 0}
      aria-label={isPlaying ? 'Pause' : 'Play the versions'}
      title={isPlaying ? 'Pause' : 'Play the versions'}
    >
      {isPlaying ? '❚❚' : '▸'}
    </button>
  )
}

function sentence(entry: VersionEntry): string {
  const text = describe(entry)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function Graph() {
  versionsChanged.value
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(1000)
  useLayoutEffect(() => {
    const element = place.current
    if (!element) return
    const observer = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const size = {
    ...shape,
    column: Math.min(column.most, Math.max(column.least, width / (head.value + 1))),
  }
  const columns = Math.floor(width / size.column)
  const first = Math.max(
    0,
    Math.min(shownVersion.value - Math.floor(columns / 2), head.value - columns + 1),
  )
  const last = Math.min(head.value, first + columns - 1)
  useEffect(() => {
    void versions.load(first, last)
  }, [first, last, conversation.value?.id])
  const entries = versions.between(first, last)
  const drawing = draw(entries, size)
  const height = shape.top + shape.lanes * shape.lane + barsHeight
  return (
    <div class="graph" ref={place}>
      <svg width="100%" height={height} aria-hidden="true">
        <Bars drawing={drawing} column={size.column} bottom={height} />
        {drawing.steps.map(step => (
          <path key={step.to} class="step" d={step.path} />
        ))}
        {drawing.returns.map(back => (
          <path
            key={back.from}
            class={back.from === shownVersion.value ? 'return at' : 'return'}
            d={back.path}
          />
        ))}
        {drawing.nodes.map(node => (
          <Mark key={node.version} node={node} column={size.column} height={height} />
        ))}
      </svg>
    </div>
  )
}

function Bars({ drawing, column, bottom }: { drawing: Drawing; column: number; bottom: number }) {
  const limit = conversation.value?.settings.tokenLimit ?? 0
  const most = Math.max(1, ...drawing.nodes.map(node => node.entry.tokens))
  return (
    <g class="bars">
      {drawing.nodes.map(node => {
        const height = Math.max(1, (node.entry.tokens / most) * (barsHeight - 4))
        const over = limit > 0 && node.entry.tokens > limit
        return (
          <rect
            key={node.version}
            class={over ? 'bar over' : 'bar'}
            x={node.x - column / 2 + 2}
            width={column - 4}
            y={bottom - height}
            height={height}
          />
        )
      })}
    </g>
  )
}

function Mark({ node, column, height }: { node: Node; column: number; height: number }) {
  const at = node.version === shownVersion.value
  const forks = conversation.value?.forks.filter(fork => fork.version === node.version) ?? []
  return (
    <g class={at ? 'node at' : 'node'} onClick={() => choose(node.version)}>
      <title>{describe(node.entry) + forks.map(fork => `; fork ${fork.id}`).join('')}</title>
      <rect class="reach" x={node.x - column / 2} y={0} width={column} height={height} />
      {node.kind === 'compress' || node.kind === 'expand' ? (
        <rect
          class={`shape kind-${node.kind}`}
          x={node.x - 5}
          y={node.y - 5}
          width={10}
          height={10}
          transform={`rotate(45 ${node.x} ${node.y})`}
        />
      ) : (
        <circle
          class={`shape kind-${node.kind}`}
          cx={node.x}
          cy={node.y}
          r={node.kind === 'append' || node.kind === 'mark' ? 4 : 5}
        />
      )}
      {forks.length > 0 && <path class="fork" d={`M${node.x} ${node.y + 6}l-4 7h8z`} />}
    </g>
  )
}

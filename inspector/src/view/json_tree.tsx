// JSON set out in lines, of which the parts fold.

import { useMemo, useState } from 'preact/hooks'
import { parseExact, pretty } from '../api/json'
import type { Json } from '../api/types'
import { count } from './words'

const openDepth = 2
const smallMax = 40 // lines: such a value is open at any depth
const childrenMax = 100 // shown at first
const roomyMax = 8000 // characters: of a longer value only the outermost part is open
const stringMax = 4000 // of a longer one the beginning is shown
const depthMax = 40 // from here on it is shown as text

export function parsed(text: string): Json | undefined {
  try {
    const value = parseExact(text.trim())
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

// What holds the words that are sought is open.
export function JsonTree({ value, sought }: { value: Json; sought: string }) {
  const isRoomy = useMemo(() => pretty(value).length <= roomyMax, [value])
  return (
    <div class="json tree" dir="ltr">
      <Value value={value} depth={0} sought={sought} isRoomy={isRoomy} end="" />
    </div>
  )
}

interface Props {
  value: Json
  depth: number
  sought: string
  isRoomy: boolean
  name?: string
  end: string // what follows in the same line
}

type IsRaw = { isRawJSON?: (value: unknown) => boolean } // a number that keeps its spelling
const isNest = (value: Json): value is Json[] | { [name: string]: Json } =>
  typeof value === 'object' &&
  value !== null &&
  !(JSON as IsRaw).isRawJSON?.(value) &&
  Object.keys(value).length > 0

function Value({ value, name, ...rest }: Props) {
  const { depth, end } = rest
  const label = name === undefined ? null : <span class="json-name">{JSON.stringify(name)}: </span>
  if (!isNest(value) || depth >= depthMax)
    return (
      <div class="json-line">
        {label}
        <Leaf value={value} />
        {end}
      </div>
    )
  return <Nest value={value} label={label} {...rest} />
}

function Leaf({ value }: { value: Json }) {
  const [isWhole, setWhole] = useState(false)
  const text = pretty(value)
  const isCut = !isWhole && text.length > stringMax + 500
  return (
    <>
      <span class={`json-${kindOf(value)}`}>{isCut ? text.slice(0, stringMax) : text}</span>
      {isCut && (
        <button class="more" type="button" onClick={() => setWhole(true)}>
          Show all {count(text.length)} characters
        </button>
      )}
    </>
  )
}

function Nest({
  value,
  depth,
  sought,
  isRoomy,
  label,
  end,
}: Omit<Props, 'name' | 'value'> & {
  value: Json[] | { [name: string]: Json }
  label: preact.ComponentChild
}) {
  const [turned, setTurned] = useState<boolean | null>(null)
  const [limit, setLimit] = useState(childrenMax)
  const isList = Array.isArray(value)
  const members: [string | undefined, Json][] = isList
    ? value.map(each => [undefined, each])
    : Object.entries(value)
  const text = pretty(value)
  const isOpen =
    turned ??
    (depth === 0 ||
      (sought !== '' && text.includes(sought)) ||
      (isRoomy && (depth < openDepth || text.split('\n', smallMax + 1).length <= smallMax)))
  const [left, right] = isList ? '[]' : '{}'
  return (
    <>
      <div class="json-line">
        {label}
        <button
          type="button"
          class="json-fold"
          aria-expanded={isOpen}
          aria-label={`${isList ? 'List' : 'Object'} of ${count(members.length)}`}
          onClick={() => setTurned(!isOpen)}
        >
          {left}
          {!isOpen && ` … ${count(members.length)} ${right}`}
        </button>
        {!isOpen && end}
      </div>
      {isOpen && (
        <div class="json-inside">
          {members.slice(0, limit).map(([name, each], i) => (
            <Value
              key={i}
              value={each}
              depth={depth + 1}
              sought={sought}
              isRoomy={isRoomy}
              {...(name === undefined ? {} : { name })}
              end={i + 1 < members.length ? ',' : ''}
            />
          ))}
          {members.length > limit && (
            <button class="more" type="button" onClick={() => setLimit(limit + childrenMax)}>
              {count(members.length - limit)} more
            </button>
          )}
        </div>
      )}
      {isOpen && (
        <div class="json-line">
          {right}
          {end}
        </div>
      )}
    </>
  )
}

function kindOf(value: Json): string {
  if (value === null || typeof value === 'boolean') return 'word'
  return typeof value === 'string' ? 'string' : 'number'
}

// The blocks of a message: text, reasoning, media, calls with their answers, and as JSON whatever else there is.

import { pretty } from '../api/json'
import type { Block, CallBlock, MediaBlock, OpaqueBlock, ResultBlock } from '../api/types'
import { argumentsText, gist, mediaSource, textIn, toolName } from '../model/blocks'
import type { Answer } from '../model/pairs'
import { shownVersion } from '../state'
import { Actions, Asked } from './actions'
import { isUnfolded, toggle } from './folds'
import { OpenedMenu } from './menu'
import { JsonText, Text } from './text'
import { count } from './words'

interface Props {
  answers?: Map<string, Answer> | undefined
  at: string
  mono?: boolean // what tools say is often set out in columns
  id?: string // of the conversation, where something can be done with the answers
  isHead?: boolean
}

export function Blocks({ blocks, ...rest }: { blocks: Block[] } & Props) {
  return (
    <>
      {blocks.map((block, i) => (
        <BlockView key={i} block={block} {...rest} at={`${rest.at}.${i}`} />
      ))}
    </>
  )
}

function BlockView({
  block,
  answers,
  at,
  mono = false,
  id,
  isHead = false,
}: { block: Block } & Props) {
  switch (block.kind) {
    case 'text':
      return (
        <>
          {block.type && <p class="block-type">{block.type}</p>}
          <Text text={block.text} as={mono ? 'output' : 'prose'} />
        </>
      )
    case 'reasoning':
      return (
        <Fold
          at={at}
          class="reasoning"
          label="Reasoning"
          note={block.type}
          gist={block.text?.slice(0, 140)}
          text={block.text}
        >
          <Text text={block.text ?? '(only the provider can read it)'} as="prose" />
        </Fold>
      )
    case 'media':
      return <Media block={block} at={at} />
    case 'call':
      return (
        <Call
          block={block}
          answer={answers?.get(block.callId ?? '')}
          at={at}
          id={id}
          isHead={isHead}
        />
      )
    case 'result':
      return answers?.get(block.callId ?? '')?.block === block ? null : (
        <Result block={block} at={at} />
      )
    case 'opaque':
      return <Opaque block={block} at={at} />
  }
}

function Opaque({ block, at }: { block: OpaqueBlock; at: string }) {
  const json = pretty(block.json)
  if (!block.type) return <pre class="json">{json}</pre>
  return (
    <Fold
      at={at}
      class="opaque"
      label={block.type}
      gist={JSON.stringify(block.json).slice(0, 140)}
      text={json}
    >
      <pre class="json">{json}</pre>
    </Fold>
  )
}

function Media({ block, at }: { block: MediaBlock; at: string }) {
  const source = mediaSource(block)
  const what = [
    { image: 'A picture', audio: 'A sound', video: 'A video', file: 'A file' }[block.media],
    block.filename,
    block.mime,
  ]
    .filter(Boolean)
    .join(' · ')
  switch (source.kind) {
    case 'picture':
      return (
        <img class="picture" src={source.url} alt={block.filename ?? 'Picture in the message'} />
      )
    case 'text':
      return (
        <Fold
          at={at}
          class="document"
          label={block.filename ?? 'Document'}
          note={block.mime}
          gist={source.text.slice(0, 140)}
          text={source.text}
        >
          <Text text={source.text} as={isProse(block) ? 'prose' : 'output'} />
        </Fold>
      )
    case 'unshown':
      return (
        <p class="media">
          {what}, not shown: <code>{source.note}</code>
        </p>
      )
    case 'link':
      return (
        <p class="media">
          {what} elsewhere, not fetched:{' '}
          <a href={source.url} target="_blank" rel="noopener noreferrer">
            {source.url}
          </a>
        </p>
      )
  }
}

// An answer whose call is not in sight.
function Result({ block, at }: { block: ResultBlock; at: string }) {
  return (
    <div class={block.isError ? 'result failed' : 'result'}>
      <span class="result-of">
        answer{' '}
        {block.name && (
          <>
            of <code>{block.name}</code>{' '}
          </>
        )}
        {block.callId && (
          <>
            to <code>{block.callId}</code>
          </>
        )}
        {block.type && ` · ${block.type}`}
        {block.isError && ' · failed'}
      </span>
      <Blocks blocks={block.blocks} at={at} mono />
    </div>
  )
}

function Call({
  block,
  answer: elsewhere,
  at,
  id,
  isHead,
}: {
  block: CallBlock
  answer: Answer | undefined
  at: string
  id: string | undefined
  isHead: boolean
}) {
  const given = argumentsText(block)
  const answer = elsewhere ?? heldBy(block)
  const failed = answer?.block.isError ?? false
  const note = [block.type !== block.name && block.type, block.byProvider && 'run by the provider']
    .filter(Boolean)
    .join(' · ')
  // A tool of the provider's may answer inside of its call, or not at all.
  const none = block.byProvider ? null : <span class="waits">no answer here</span>
  return (
    <Fold
      at={at}
      class={failed ? 'call failed' : 'call'}
      label={toolName(block)}
      note={note}
      gist={given.replace(/\s+/g, ' ').slice(0, 160)}
      text={`${given}\n${textIn(answer?.block.blocks ?? [])}`}
      after={answer ? <AnswerGist answer={answer} /> : none}
    >
      <p class="fold-title">Arguments</p>
      <JsonText text={given} />
      {answer && <CallAnswer answer={answer} at={at} id={id} isHead={isHead} />}
    </Fold>
  )
}

// What a tool of the provider's answered inside of its call.
function heldBy({ blocks, isError }: CallBlock): Answer | undefined {
  return blocks && { row: null, block: { kind: 'result', blocks, ...(isError && { isError }) } }
}

function CallAnswer({
  answer,
  at,
  id,
  isHead,
}: {
  answer: Answer
  at: string
  id: string | undefined
  isHead: boolean
}) {
  const { row, block } = answer
  return (
    <>
      <div class="answer-head">
        <p class="fold-title">
          Answer{' '}
          <span class="quiet">
            {row && `#${row.index} · ${count(row.tokens)} tokens`}
            {block.isError && ' · failed'}
          </span>
        </p>
        {row?.marks.map(mark => (
          <span key={mark} class={mark === 'pinned' ? 'mark pinned' : 'mark'}>
            {mark}
          </span>
        ))}
        {row && id !== undefined && <Actions id={id} row={row} isHead={isHead} />}
      </div>
      {row && id !== undefined && <OpenedMenu id={id} row={row} version={shownVersion.value} />}
      <Blocks blocks={block.blocks} at={at + '.a'} mono />
      {row && id !== undefined && <Asked id={id} row={row} />}
    </>
  )
}

function AnswerGist({ answer }: { answer: Answer }) {
  return (
    <span class="answer-gist">
      <span aria-hidden="true">↳ </span>
      {gist(answer.block.blocks, 120) || '(empty)'}
    </span>
  )
}

const isProse = ({ mime, filename }: MediaBlock) =>
  mime === 'text/markdown' || /\.(md|markdown)$/i.test(filename ?? '')

// A part that opens and closes. What is open is remembered, since rows out of sight are not kept.
export function Fold(props: {
  at: string
  class: string
  label: string
  note?: string
  gist?: string
  text?: string
  after?: preact.ComponentChildren
  children: preact.ComponentChildren
}) {
  const isOpen = isUnfolded(props.at, props.text ?? '')
  return (
    <div class={`fold ${props.class}`}>
      <button
        class="fold-head"
        type="button"
        aria-expanded={isOpen}
        onClick={() => toggle(props.at)}
      >
        <span class="fold-sign" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <span class="fold-label">{props.label}</span>
        {props.note && <span class="fold-note">{props.note}</span>}
        {!isOpen && <span class="fold-gist">{props.gist}</span>}
        {!isOpen && props.after}
      </button>
      {isOpen && <div class="fold-body">{props.children}</div>}
    </div>
  )
}

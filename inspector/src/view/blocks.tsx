// The blocks of a message: text, thinking, pictures, calls with their answers.

import { pretty } from '../api/json';
import type { Row } from '../api/types';
import { gist, textIn, type Block } from '../model/blocks';
import type { ResultBlock } from '../model/pairs';
import { Actions, Asked } from './actions';
import { isUnfolded, toggle } from './folds';
import { Text } from './text';
import { count } from './words';

export interface Answer {
  row: Row;
  block: ResultBlock;
}

interface Props {
  answers?: Map<string, Answer> | undefined;
  at: string;
  mono?: boolean; // what tools say is often set out in columns
  id?: string; // of the conversation, where something can be done with the answers
  isHead?: boolean;
}

export function Blocks({ blocks, ...rest }: { blocks: Block[] } & Props) {
  return (
    <>
      {blocks.map((block, i) => (
        <BlockView key={i} block={block} {...rest} at={`${rest.at}.${i}`} />
      ))}
    </>
  );
}

function BlockView({ block, answers, at, mono = false, id, isHead = false }: { block: Block } & Props) {
  switch (block.kind) {
    case 'text':
      return <Text text={block.text} mono={mono} />;
    case 'thinking':
      return (
        <Fold at={at} class="thinking" label="Thinking" gist={block.text.slice(0, 140)} text={block.text}>
          <Text text={block.text || '(not readable)'} />
        </Fold>
      );
    case 'image':
      return <Picture block={block} />;
    case 'call':
      return <Call block={block} answer={answers?.get(block.id)} at={at} id={id} isHead={isHead} />;
    case 'result':
      return (
        <div class={block.isError ? 'result failed' : 'result'}>
          <span class="result-of">
            answer to <code>{block.callId}</code>
            {block.isError && ' · failed'}
          </span>
          <Blocks blocks={block.blocks} at={at} mono />
        </div>
      );
    case 'other':
      return (
        <Fold at={at} class="other" label={block.type} gist="" text={pretty(block.value)}>
          <pre class="json">{pretty(block.value)}</pre>
        </Fold>
      );
  }
}

function Picture({ block }: { block: Extract<Block, { kind: 'image' }> }) {
  const { source } = block;
  if (source.kind === 'data') return <img class="picture" src={source.url} alt="Picture in the message" />;
  if (source.kind === 'unknown') return <p class="picture-link">A picture that cannot be shown {source.note && <code>{source.note}</code>}</p>;
  return (
    <p class="picture-link">
      A picture elsewhere, not fetched:{' '}
      <a href={source.url} target="_blank" rel="noopener noreferrer">
        {source.url}
      </a>
    </p>
  );
}

function Call({ block, answer, at, id, isHead }: { block: Extract<Block, { kind: 'call' }>; answer: Answer | undefined; at: string; id: string | undefined; isHead: boolean }) {
  const line = block.arguments.replace(/\s+/g, ' ').slice(0, 160);
  const failed = answer?.block.isError ?? false;
  return (
    <Fold at={at} class={failed ? 'call failed' : 'call'} label={block.name} gist={line} text={`${block.arguments}\n${textIn(answer?.block.blocks ?? [])}`} after={answer ? <AnswerGist answer={answer} /> : <span class="waits">no answer here</span>}>
      <p class="fold-title">Arguments</p>
      <pre class="json">{prettyText(block.arguments)}</pre>
      {answer && (
        <>
          <div class="answer-head">
            <p class="fold-title">
              Answer <span class="quiet">#{answer.row.index} · {count(answer.row.tokens)} tokens{failed && ' · failed'}</span>
            </p>
            {answer.row.marks.map((mark) => (
              <span key={mark} class={mark === 'pinned' ? 'mark pinned' : 'mark'}>{mark}</span>
            ))}
            {id !== undefined && <Actions id={id} row={answer.row} isHead={isHead} />}
          </div>
          <Blocks blocks={answer.block.blocks} at={at + '.a'} mono />
          {id !== undefined && <Asked id={id} row={answer.row} />}
        </>
      )}
    </Fold>
  );
}

function AnswerGist({ answer }: { answer: Answer }) {
  return (
    <span class="answer-gist">
      <span aria-hidden="true">↳ </span>
      {gist(answer.row.message, 120) || '(empty)'}
    </span>
  );
}

function prettyText(text: string): string {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

// A part that opens and closes. What is open is remembered, since rows out of sight are not kept.
export function Fold(props: { at: string; class: string; label: string; gist: string; text?: string; after?: preact.ComponentChildren; children: preact.ComponentChildren }) {
  const isOpen = isUnfolded(props.at, props.text ?? '');
  return (
    <div class={`fold ${props.class}`}>
      <button class="fold-head" type="button" aria-expanded={isOpen} onClick={() => toggle(props.at)}>
        <span class="fold-sign" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <span class="fold-label">{props.label}</span>
        {!isOpen && <span class="fold-gist">{props.gist}</span>}
        {!isOpen && props.after}
      </button>
      {isOpen && <div class="fold-body">{props.children}</div>}
    </div>
  );
}

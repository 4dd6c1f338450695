// What events that are no versions say, in a sentence.

import type { ServerEvent } from '../api/sse'
import type { ErrorBody } from '../api/types'

interface EngineEvent {
  type: string
  tokensUsed?: number
  tokenLimit?: number
  threshold?: number
  tokensBefore?: number
  tokensAfter?: number
  targetReached?: boolean
  strategy?: string
  error?: ErrorBody
}
interface Progress {
  stage: string
  messages?: number
  summaryBytes?: number
}
interface Job {
  job: string
  state: string
  progress?: Progress
  strategy?: string | { name?: string }
  error?: ErrorBody
}

// What is shown may be no longer what is stored.
export function isRewritten(event: ServerEvent): boolean {
  return event.type === 'event' && (JSON.parse(event.data) as EngineEvent).type === 'REWRITTEN'
}

export function sentenceOf(event: ServerEvent): string {
  if (event.type === 'compression') return ofJob(JSON.parse(event.data) as Job)
  if (event.type === 'event') return ofEngine(JSON.parse(event.data) as EngineEvent)
  return event.type === 'deleted' ? 'This conversation has been deleted.' : ''
}

function ofJob(job: Job): string {
  const strategy = typeof job.strategy === 'string' ? job.strategy : (job.strategy?.name ?? '')
  return `Background compression${strategy && ` (${strategy})`}: ${job.error?.message ?? (job.progress ? ofProgress(job.progress) : job.state)}.`
}

function ofProgress({ stage, messages, summaryBytes }: Progress): string {
  if (stage !== 'summarising') return stage
  return `summarising ${messages ?? 0} messages${summaryBytes ? `, ${summaryBytes} bytes so far` : ''}`
}

function ofEngine(event: EngineEvent): string {
  switch (event.type) {
    case 'TOKEN_LIMIT_EXCEEDED':
      return `The view has ${event.tokensUsed} tokens, more than its limit of ${event.tokenLimit}.`
    case 'COMPRESSION_THRESHOLD_EXCEEDED':
      return `The view has ${event.tokensUsed} tokens, more than the threshold of ${event.threshold}.`
    case 'COMPRESSED':
      return `Compressed by ${event.strategy}: ${event.tokensBefore} tokens became ${event.tokensAfter}.${event.targetReached === false ? ' The target is out of reach.' : ''}`
    case 'REWRITTEN':
      return '' // it is shown anew
    default:
      return `${event.type}${event.error ? ': ' + event.error.message : ''}`
  }
}

// The mark map of documents 001 and 004, and what 004 reads from one. The engine derives it from its state; a map that was handed out is
// a copy, and changing it changes nothing until it is given back by `setMarkMap`.

import type { LLMMessageRole } from './message.js'

export interface MessageMarkMap {
  /** The ordinals of the view, in its order. */
  originalIndices: number[]
  /** The same for each role. 004 has none; what the engine answers always does. */
  typeIndices?: Record<LLMMessageRole, number[]>
  /** The ordinal at which each batch of the stack begins. */
  batchBoundaries: number[]
  /** The number of each of these batches. */
  boundaryToBatch: number[]
  currentBatch: number
}

function currentBoundary(markMap: MessageMarkMap): number {
  return markMap.batchBoundaries[markMap.boundaryToBatch.indexOf(markMap.currentBatch)] ?? 0
}

/** The ordinals of the view that belong to the current batch. */
export function getCurrentBatchIndices(markMap: MessageMarkMap): number[] {
  const boundary = currentBoundary(markMap)
  return markMap.originalIndices.filter(index => index >= boundary)
}

/** Whether a message is from before the current batch. */
export function isModified(originalIndex: number, markMap: MessageMarkMap): boolean {
  return originalIndex < currentBoundary(markMap)
}

/** How far a message is from the beginning of the current batch; below 0: it is from before. */
export function getBatchIndex(originalIndex: number, markMap: MessageMarkMap): number {
  return originalIndex - currentBoundary(markMap)
}

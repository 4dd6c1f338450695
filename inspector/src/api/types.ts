// What the server takes and answers. protocol.ts is generated from its OpenAPI document.

export type { Json, JsonObject, Message } from './message'
export * from './protocol'

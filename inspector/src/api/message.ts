// Messages are shown and edited as JSON; what they say comes as blocks.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }
export type Message = JsonObject

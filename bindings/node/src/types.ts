export type * from './answer_types.js'
export type * from './block_types.js'
export type * from './operation_types.js'
export type * from './settings_types.js'

import { expect, test } from 'vitest'
import { EventParser } from './sse'

test('an event that comes in pieces is one event', () => {
  const parser = new EventParser()
  expect(parser.push('id: 8\nevent: ver')).toEqual([])
  expect(parser.push('sion\ndata: {"version":8}\n')).toEqual([])
  expect(parser.push('\n')).toEqual([{ id: '8', type: 'version', data: '{"version":8}' }])
})

test('comments and empty blocks are no events, and lines of data are joined', () => {
  const parser = new EventParser()
  expect(parser.push(': still here\n\n')).toEqual([])
  expect(parser.push('data: a\r\ndata:b\r\n\r\n')).toEqual([
    { id: '', type: 'message', data: 'a\nb' },
  ])
})

test('the id stays until another one comes, the type does not', () => {
  const parser = new EventParser()
  expect(parser.push('id: 1\nevent: version\ndata: x\n\ndata: y\n\n')).toEqual([
    { id: '1', type: 'version', data: 'x' },
    { id: '1', type: 'message', data: 'y' },
  ])
})

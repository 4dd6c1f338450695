// Server-sent events, read from a stream of text. EventSource cannot send a token, so the page reads them itself.

export interface ServerEvent {
  id: string
  type: string
  data: string
}

export class EventParser {
  private rest = ''
  private type = ''
  private data: string[] = []
  private id = ''

  // The events that `text` completes.
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = []
    const lines = (this.rest + text).split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) {
      const event = this.line(line.endsWith('\r') ? line.slice(0, -1) : line)
      if (event) events.push(event)
    }
    return events
  }

  private line(line: string): ServerEvent | null {
    if (line === '') return this.finish()
    const colon = line.indexOf(':')
    if (colon === 0) return null // a comment
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.type = value
    else if (field === 'data') this.data.push(value)
    else if (field === 'id' && !value.includes('\0')) this.id = value
    return null
  }

  private finish(): ServerEvent | null {
    const event = this.data.length
      ? { id: this.id, type: this.type || 'message', data: this.data.join('\n') }
      : null
    this.type = ''
    this.data = []
    return event
  }
}

// What can be known about the conversation besides its text, in tabs.

import { signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { conversation } from '../state'
import { Changes } from './changes'
import { Receipts } from './receipts'
import { Rendering } from './rendering'
import { Tokens } from './tokens'
import { VersionList } from './version_list'

const tabs = [
  { name: 'changes', title: 'Changes', content: () => <Changes /> },
  { name: 'versions', title: 'Versions', content: () => <VersionList /> },
  { name: 'tokens', title: 'Tokens', content: () => <Tokens /> },
  { name: 'receipts', title: 'Receipts', content: () => <Receipts /> },
  { name: 'rendering', title: 'Rendering', content: () => <Rendering /> },
] as const
type Tab = (typeof tabs)[number]['name']

export const tab = signal<Tab>('changes')

export function Panel() {
  const list = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const at = (tabs.findIndex(({ name }) => name === tab.value) + by + tabs.length) % tabs.length
    tab.value = tabs[at]?.name ?? 'changes'
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[at]?.focus()
  }
  const current = tabs.find(({ name }) => name === tab.value) ?? tabs[0]
  return (
    <aside class="panel" aria-label="About the conversation">
      <div
        class="tabs"
        role="tablist"
        aria-label="About the conversation"
        ref={list}
        onKeyDown={onKeyDown}
      >
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={tab.value === name}
            aria-controls="tab-panel"
            tabIndex={tab.value === name ? 0 : -1}
            onClick={() => (tab.value = name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        class="tab-panel"
        id="tab-panel"
        role="tabpanel"
        aria-labelledby={`tab-${tab.value}`}
        tabIndex={0}
      >
        {conversation.value && current.content()}
      </div>
    </aside>
  )
}

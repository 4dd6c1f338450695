// Stores, and the conversations in them.
import type { InspectOptions } from 'node:util'
import { readSettings, type ReadSettings, type Settings } from './code.js'
import { Conversation } from './conversation.js'
import { encode } from './encode.js'
import { later, mustBeObject, UndertextError } from './error.js'
import { custom, shown } from './inspect.js'
import { native, type NativeStore } from './native.js'
import type {
  CheckReport,
  ConversationRecord,
  DataSettings,
  OpenOptions,
  Removal,
  StoreOptions,
} from './types.js'

/** A place where conversations last. Everything it does runs off the loop. */
export class Store {
  readonly #handle: NativeStore
  readonly #url: string
  #isClosed = false

  /** Use openStore(). @internal */
  constructor(store: NativeStore, url: string) {
    this.#handle = store
    this.#url = url
  }

  /** Of a URL that may hold a password, only its kind. */
  get #name(): string {
    return /^(sqlite|memory):/.test(this.#url) ? this.#url : this.#url.replace(/:.*/s, ':…')
  }

  get #native(): NativeStore {
    if (this.#isClosed)
      throw new UndertextError('invalid_argument', `store ${this.#name} is closed`, {
        field: 'store',
      })
    return this.#handle
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(
      'Store',
      () => (this.#isClosed ? { url: this.#name, closed: true } : { url: this.#name }),
      options,
    )
  }

  /** The conversations by name, one after another. */
  async *[Symbol.asyncIterator](): AsyncIterableIterator<ConversationRecord> {
    for (
      let page = await this.list();
      page.length > 0;
      page = await this.list({ after: page.at(-1)!.conversation })
    )
      yield* page
  }

  /**
   * The conversation of this name; it is made where there is none, unless `make` says otherwise. The data of `settings` is kept with it; without, what was kept is taken. Code that
   * they name must be given each time.
   */
  async open(id: string, settings?: Settings, options?: OpenOptions): Promise<Conversation> {
    return openIn(this.#native, id, readSettings(settings), optionsText(options))
  }

  /** Up to `limit` conversations by name, beyond `after`. */
  async list(options: { after?: string; limit?: number } = {}): Promise<ConversationRecord[]> {
    mustBeObject(options, 'options')
    const { after = '', limit = 1000 } = options
    return JSON.parse(await later(() => this.#native.list(after, limit))) as ConversationRecord[]
  }

  /** Deletes a conversation permanently; who, when and why stays. `conflict`: it has forks. */
  async purge(id: string, who: string, why = ''): Promise<void> {
    await later(() => this.#native.purge(id, who, why))
  }

  /** What was redacted in a conversation, or that it was purged. */
  async removals(id: string): Promise<Removal[]> {
    return JSON.parse(await later(() => this.#native.removals(id))) as Removal[]
  }

  /** The settings kept with a conversation. */
  async settings(id: string): Promise<DataSettings | undefined> {
    return settingsOf(await later(() => this.#native.settings(id)))
  }

  /** Reads all records of a conversation, or of all, and reports damage. */
  async check(id = ''): Promise<CheckReport> {
    return JSON.parse(await later(() => this.#native.check(id))) as CheckReport
  }

  /** Writes a copy of the whole store to a new file, while others go on writing. */
  async backup(path: string): Promise<void> {
    await later(() => this.#native.backup(path))
  }

  /** Gives free space back. */
  async compact(): Promise<void> {
    await later(() => this.#native.compact())
  }

  /** A conversation with its history, as lines of JSON. */
  async export(id: string): Promise<string> {
    return later(() => this.#native.exportLines(id))
  }

  /** What `export` gave, under a name that is not taken. `trustSettings` where the exported settings may name files and endpoints. */
  async import(
    id: string,
    lines: string,
    options?: { settings?: DataSettings; trustSettings?: boolean },
  ): Promise<{ versions: number; messages: number }> {
    const text = options === undefined ? '' : encode(options)
    return JSON.parse(await later(() => this.#native.importLines(id, lines, text))) as {
      versions: number
      messages: number
    }
  }

  /** Conversations that are open stay open. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#handle.close()
  }

  /** `await using` closes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

async function openIn(
  store: NativeStore,
  id: string,
  read: ReadSettings,
  how: string,
  owner?: NativeStore,
): Promise<Conversation> {
  const handle = await later(() => store.open(id, read.config, read.code, how))
  return new Conversation({ handle, settings: read, owner })
}

/** `sqlite:PATH`, `postgres://…` or `memory:`. */
export async function openStore(url: string, options?: StoreOptions): Promise<Store> {
  return new Store(await openNative(url, options), url)
}

/** Replaces the store at `url` by a backup, in one step. The backup is checked first. `unavailable`: something has the store open. What fails has left the store as it was. */
export async function restoreStore(url: string, backup: string): Promise<void> {
  await later(() => native.restoreStore(url, backup))
}

async function openNative(url: string, options?: StoreOptions): Promise<NativeStore> {
  const how = optionsText(options)
  return later(() => native.openStore(url, how))
}

function optionsText(options: object | undefined): string {
  return options === undefined ? '' : encode(options)
}

/** A conversation in a store, which is closed with it. For several conversations of one store: openStore(). */
export async function open(
  url: string,
  id = 'default',
  options: { settings?: Settings; store?: StoreOptions } & OpenOptions = {},
): Promise<Conversation> {
  mustBeObject(options, 'options')
  const { settings, store: storeOptions, ...openOptions } = options
  const [read, how] = [readSettings(settings), optionsText(openOptions)]
  return inStore(url, storeOptions, store => openIn(store, id, read, how, store))
}

/** The same, with the settings that are kept with it. @internal */
export async function openWithKept(
  url: string,
  id: string,
  settings: Settings,
): Promise<{ conversation: Conversation; kept: DataSettings | undefined }> {
  const read = readSettings(settings)
  return inStore(url, undefined, async store => {
    const conversation = await openIn(store, id, read, '', store)
    return { conversation, kept: settingsOf(await later(() => store.settings(id))) }
  })
}

async function inStore<T>(
  url: string,
  options: StoreOptions | undefined,
  use: (store: NativeStore) => Promise<T>,
): Promise<T> {
  const store = await openNative(url, options)
  try {
    return await use(store)
  } catch (thrown) {
    await store.close()
    throw thrown
  }
}

function settingsOf(text: string): DataSettings | undefined {
  return text === '' ? undefined : (JSON.parse(text) as DataSettings)
}

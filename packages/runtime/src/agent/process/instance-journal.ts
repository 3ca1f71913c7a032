/**
 * The store of one instance, loaded and opened when it is first needed. A new conversation has nothing to read, so its
 * process becomes ready without a store, and its first turn opens the store.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { AgentStart, StoreStart } from '../../config/agent-start.ts';
import type { AgentBlobs } from '../../store/blobs.ts';
import type { AgentStore } from '../../store/store.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { ProcessHost } from './process-host.ts';

type ElsewhereStart = Extract<StoreStart, { readonly isElsewhere: true }>;

export class InstanceJournal {
  readonly address: AgentAddress;
  readonly isNew: boolean;
  #opened: Promise<AgentStore> | undefined;
  #isClosed = false;

  constructor(
    private readonly host: ProcessHost,
    private readonly start: AgentStart,
    private readonly warn: (warning: StoreWarning) => void,
    private readonly openElsewhere?: (store: ElsewhereStart) => Promise<AgentStore>,
  ) {
    this.address = start.address;
    this.isNew = start.isNew === true;
  }

  /** **Errors** — `E_STORE_ORDER` once closed: by then the conversation may be open elsewhere in a shared process. */
  async open(): Promise<AgentStore> {
    if (this.#isClosed) throw new GoondanError('E_STORE_ORDER', 'The conversation was closed');
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Returns the store for turns and states. Nothing is opened or written before `first` has resolved. */
  store(first: () => Promise<unknown>): ConversationStore {
    return {
      open: async (...turn) => {
        await first();
        return (await this.open()).conversations.open(...turn);
      },
      append: async (...record) => (await this.open()).conversations.append(...record),
      commit: async (...turn) => (await this.open()).conversations.commit(...turn),
      commitStates: async (...states) => {
        await first();
        return (await this.open()).conversations.commitStates(...states);
      },
      read: async (instance) => {
        // A new instance has no data until its store is opened.
        if (this.isNew && this.#opened === undefined)
          return { version: 0, stateVersion: 0, messages: [], extensionState: this.start.states ?? {} };
        return (await this.open()).conversations.read(instance);
      },
    };
  }

  /** Returns the bytes of images and files. The store is opened when they are first needed. */
  blobs(): AgentBlobs {
    const blobs = async () => (await this.open()).blobs;
    return {
      put: async (...given) => (await blobs()).put(...given),
      use: async (...given) => (await blobs()).use(...given),
      named: async (...given) => (await blobs()).named(...given),
      get: async (digest) => (await blobs()).get(digest),
      size: async (digest) => (await blobs()).size(digest),
    };
  }

  async #open(): Promise<AgentStore> {
    const { store } = this.start;
    if (!('isElsewhere' in store)) return this.host.openStore(store, this.warn);
    if (this.openElsewhere === undefined) throw new Error('no channel leads to the store');
    return this.openElsewhere(store);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // A failure to open the store was already told to the turn that needed it.
    const store = await this.#opened?.catch(() => undefined);
    await (this.host.shared ? store?.close(this.address) : store?.close());
  }
}

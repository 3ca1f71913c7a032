/**
 * The journal of one instance, loaded and opened when it is first needed. A new conversation has nothing to read, so
 * its process becomes ready without a journal, and its first turn opens the journal.
 */
import type { AgentAddress } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { ProcessHost } from './process-host.ts';

export class InstanceJournal {
  readonly address: AgentAddress;
  readonly isNew: boolean;
  #opened: Promise<Journal> | undefined;

  constructor(
    private readonly host: ProcessHost,
    private readonly start: AgentStart,
    private readonly warn: (warning: StoreWarning) => void,
  ) {
    this.address = start.address;
    this.isNew = start.isNew === true;
  }

  open(): Promise<Journal> {
    this.#opened ??= this.host.openJournal(this.start.store, this.warn);
    return this.#opened;
  }

  /** Returns the store for turns and states. Nothing is opened or written before `first` has resolved. */
  store(first: () => Promise<unknown>): ConversationStore {
    return {
      open: async (instance, turnId) => {
        await first();
        return (await this.open()).open(instance, turnId);
      },
      append: async (...record) => (await this.open()).append(...record),
      commit: async (...turn) => (await this.open()).commit(...turn),
      commitStates: async (...states) => {
        await first();
        return (await this.open()).commitStates(...states);
      },
      read: async (instance) => {
        // A new instance has no data until its journal is opened.
        if (this.isNew && this.#opened === undefined)
          return { version: 0, stateVersion: 0, messages: [], extensionState: this.start.states ?? {} };
        return (await this.open()).read(instance);
      },
    };
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }
}

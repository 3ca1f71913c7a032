/**
 * Keeps conversations in memory: for tests, for programs that need no storage, and as the simplest implementation of
 * `ConversationStore`.
 */
import { type AgentAddress, GoondanError, type JsonValue, type Message, type TurnResult } from '@goondan/types';
import { turnIdOf } from '../../ports/ids.ts';
import { countTurn, usageOf } from '../../usage/count-turn.ts';
import type { ConversationStore, FinishedUsage, TurnInput, TurnRecord } from './conversation-store.ts';

interface Instance {
  epoch: number;
  version: number;
  stateVersion: number;
  /** Messages are added in place; readers get a copy. */
  messages: Message[];
  extensionState: Readonly<Record<string, JsonValue>>;
  running: { readonly turnId: string; readonly records: TurnRecord[] } | undefined;
  readonly finished: Map<string, { readonly finished: TurnResult; readonly finishedUsage: FinishedUsage }>;
}

/** The maximum number of results that are kept, in case their turns are opened again. */
const MOST_FINISHED = 1_000;

export function memoryStore(): ConversationStore {
  const instances = new Map<string, Instance>();

  function find(address: AgentAddress): Instance {
    const key = `${address.agentName.length} ${address.agentName}${address.instanceKey}`;
    const known = instances.get(key);
    if (known !== undefined) return known;
    const created: Instance = {
      epoch: 0,
      version: 0,
      stateVersion: 0,
      messages: [],
      extensionState: {},
      running: undefined,
      finished: new Map(),
    };
    instances.set(key, created);
    return created;
  }

  function writable(address: AgentAddress, epoch: number): Instance {
    const instance = find(address);
    if (instance.epoch === epoch && instance.running !== undefined) return instance;
    throw new GoondanError(
      'E_FENCED',
      `Agent "${address.agentName}", instance "${address.instanceKey}": epoch ${epoch} has ended; the writer is now epoch ${instance.epoch}.`,
    );
  }

  return {
    async open(address, turnId) {
      const instance = find(address);
      const { version, stateVersion, messages, extensionState } = instance;
      const finished = instance.finished.get(turnId);
      const size = messages.length;
      const loadBase = async () => messages.slice(0, size);
      const isHandled = ({ event }: TurnInput) => instance.finished.has(turnIdOf(event.id));
      const opened = { epoch: ++instance.epoch, version, stateVersion, loadBase, extensionState, isHandled };
      if (finished !== undefined) return { ...opened, log: [], ...finished };
      if (instance.running?.turnId !== turnId) instance.running = { turnId, records: [] };
      return { ...opened, log: [...instance.running.records] };
    },

    async append(address, epoch, at, records) {
      writable(address, epoch).running?.records.splice(at, Infinity, ...records);
    },

    async commit(address, epoch, turnId, delta, extensionState, result, rest) {
      const instance = writable(address, epoch);
      if (delta.type === 'rewrite') instance.messages = [...delta.messages];
      else instance.messages.push(...delta.messages);
      instance.extensionState = { ...extensionState };
      instance.version++;
      instance.stateVersion++;
      const records = [...(instance.running?.records ?? []), ...(rest?.records ?? [])];
      const counted = countTurn(records.map((record) => ({ at: 0, record })));
      instance.running = undefined;
      const ended = { finished: result, finishedUsage: { ...usageOf(counted), stepCount: counted.steps } };
      for (const record of records)
        if (record.type === 'message' && record.took) instance.finished.set(turnIdOf(record.took.event.id), ended);
      instance.finished.set(turnId, ended);
      const [oldest] = instance.finished.keys();
      if (oldest !== undefined && instance.finished.size > MOST_FINISHED) instance.finished.delete(oldest);
    },

    async commitStates(address, stateVersion, extensionState) {
      const instance = find(address);
      const what = `Agent "${address.agentName}", instance "${address.instanceKey}"`;
      if (instance.running) throw new GoondanError('E_STORE_ORDER', `${what}: ${instance.running.turnId} is running.`);
      if (instance.stateVersion !== stateVersion) {
        throw new GoondanError(
          'E_FENCED',
          `${what}: the states are of version ${stateVersion}, but version ${instance.stateVersion} is committed.`,
        );
      }
      instance.extensionState = { ...extensionState };
      return ++instance.stateVersion;
    },

    async read(address) {
      const { version, stateVersion, messages, extensionState } = find(address);
      return { version, stateVersion, messages: [...messages], extensionState };
    },
  };
}

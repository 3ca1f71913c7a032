/** A swarm that is nothing but memory, for whoever stands between a swarm and those who ask it. */
import { type AgentAddress, createAssistantMessage, GoondanError, type TurnResult } from '@goondan/types';
import type {
  Acceptance,
  ApprovalSummary,
  AskOptions,
  Delivery,
  SwarmControl,
  SwarmNotice,
  SwarmStatus,
  TurnEnd,
  WatchFilter,
} from '../control/swarm-control.ts';

export interface FakeControl extends SwarmControl {
  /** What was asked of it, in order. */
  readonly calls: readonly (readonly [name: string, ...parameters: unknown[]])[];
  /** Watchers that are listening, turns that are running. */
  readonly watching: number;
  readonly running: readonly string[];
  /** What those who ask for these turns said. */
  readonly askers: ReadonlyMap<string, { readonly options: AskOptions }>;
  /** Events whose asker aborted. */
  readonly cancelled: readonly string[];
  /** Tells every watcher, whatever its filter, and the asker of the event. */
  tell(notice: SwarmNotice): void;
  /** Ends the turn of an event with this text. */
  finish(eventId: string, text: string): void;
  /** Ends every wait for the turn of an event with this error. */
  fail(eventId: string, error: unknown): void;
  /** The next call of anything fails with this. */
  failNext(error: unknown): void;
  /** The next `deliver`, `ask` or `instances` waits for this. */
  holdNext(until: Promise<unknown>): void;
}

interface Asker {
  readonly end: PromiseWithResolvers<TurnEnd>;
  readonly acceptance: Acceptance;
  readonly options: AskOptions;
}

export function fakeControl(): FakeControl {
  const calls: [string, ...unknown[]][] = [];
  const watchers = new Set<(notice: SwarmNotice) => void>();
  const askers = new Map<string, Asker>();
  const accepted = new Set<string>();
  const cancelled: string[] = [];
  const stopped = Promise.withResolvers<void>();
  let failure: { readonly error: unknown } | undefined;
  let hold: Promise<unknown> | undefined;

  const enter = (name: string, ...parameters: unknown[]) => {
    calls.push([name, ...parameters]);
    const due = failure;
    failure = undefined;
    if (due !== undefined) throw due.error;
  };
  const held = async () => {
    const until = hold;
    hold = undefined;
    await until;
  };
  const accept = async (delivery: Delivery): Promise<Acceptance> => {
    await held();
    const eventId = delivery.id ?? `event-${accepted.size + 1}`;
    const duplicate = accepted.has(eventId);
    accepted.add(eventId);
    const { agent = 'entry', instanceKey = 'default', traceId = '0'.repeat(32) } = delivery;
    return { accepted: true, eventId, agent, instanceKey, turnId: `turn-${eventId}`, traceId, duplicate };
  };
  const settle = (eventId: string, how: (asker: Asker) => void) => {
    const asker = askers.get(eventId);
    askers.delete(eventId);
    if (asker === undefined) throw new Error(`Nobody asked ${eventId}.`);
    how(asker);
  };

  return {
    calls,
    askers,
    cancelled,
    stopped: stopped.promise,
    get watching() {
      return watchers.size;
    },
    get running() {
      return [...askers.keys()];
    },
    async deliver(delivery) {
      enter('deliver', delivery);
      return accept(delivery);
    },
    async ask(delivery, options = {}) {
      enter('ask', delivery);
      const acceptance = await accept(delivery);
      const end = Promise.withResolvers<TurnEnd>();
      askers.set(acceptance.eventId, { end, acceptance, options });
      options.signal?.addEventListener('abort', () => {
        if (!askers.delete(acceptance.eventId)) return;
        cancelled.push(acceptance.eventId);
        end.resolve(endOf(acceptance, failedResult(acceptance.turnId)));
      });
      options.onAccepted?.(acceptance);
      return end.promise;
    },
    watch(filter: WatchFilter, listener) {
      enter('watch', filter);
      const watcher = (notice: SwarmNotice) => listener(notice);
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    async cancel(at, reason) {
      enter('cancel', at, ...(reason === undefined ? [] : [reason]));
      const asker = askers.get(at.eventId ?? '');
      if (asker === undefined) return false;
      settle(asker.acceptance.eventId, ({ end, acceptance }) =>
        end.resolve(endOf(acceptance, failedResult(acceptance.turnId))),
      );
      return true;
    },
    status() {
      enter('status');
      return fakeStatus;
    },
    async instances() {
      enter('instances');
      await held();
      return fakeStatus.instances;
    },
    async deleteInstance(at: AgentAddress, options) {
      enter('deleteInstance', at, options);
      return { inputs: 1 };
    },
    async forkInstance(from: AgentAddress, options) {
      enter('forkInstance', from, options);
      return { seq: 7, messages: 4, unknownStates: ['notes'] };
    },
    async deadLetters(choice) {
      enter('deadLetters', choice);
      const letter = { agent: 'entry', instanceKey: 'default', eventId: 'dead', input: 'hi', crashes: 3 };
      return [{ ...letter, reason: 'It crashed.', deadAt: '2026-01-01T00:00:00.000Z' }];
    },
    async retryDeadLetter(at: AgentAddress, eventId: string) {
      enter('retryDeadLetter', at, eventId);
      return eventId === 'dead';
    },
    async dropDeadLetter(at: AgentAddress, eventId: string) {
      enter('dropDeadLetter', at, eventId);
      return eventId === 'dead';
    },
    async approvals() {
      enter('approvals');
      return [fakeApproval];
    },
    async approve(id, options) {
      enter('approve', id, options);
      return id === fakeApproval.id;
    },
    async deny(id, options) {
      enter('deny', id, options);
      return id === fakeApproval.id;
    },
    async restart(choice) {
      enter('restart', choice);
      return 2;
    },
    async reload() {
      enter('reload');
      return { kept: ['Swarm/fake'], changed: ['Agent/entry'], added: [], removed: [] };
    },
    async stop(options) {
      enter('stop', options);
      stopped.resolve();
    },
    tell(notice) {
      for (const watcher of [...watchers]) watcher(notice);
      const eventId = notice.type === 'delta' ? notice.eventId : '';
      askers.get(eventId)?.options.onNotice?.(notice);
    },
    finish(eventId, text) {
      settle(eventId, ({ end, acceptance, options }) => {
        const { turnId } = acceptance;
        const responseMessage = createAssistantMessage(text);
        const ended = endOf(acceptance, { turnId, responseMessage, finishReason: 'text_response' });
        options.onNotice?.({ type: 'turn.ended', end: ended });
        end.resolve(ended);
      });
    },
    fail: (eventId, error) => settle(eventId, ({ end }) => end.reject(error)),
    failNext(error) {
      failure = { error };
    },
    holdNext(until) {
      hold = until;
    },
  };
}

export const fakeApproval: ApprovalSummary = {
  id: '3fa9c1d2',
  agent: 'helper',
  instanceKey: 'default',
  eventId: 'mail-17',
  traceId: '0123456789abcdef0123456789abcdef',
  toolCallId: 'call_1',
  toolName: 'bash__exec',
  args: { command: 'npm publish' },
  digest: 'd'.repeat(64),
  reason: 'It changes something outside.',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-02T00:00:00.000Z',
};

export const fakeStatus: SwarmStatus = {
  swarm: 'default',
  workspaceId: 'default-0123456789abcdef',
  pid: 4242,
  startedAt: '2026-01-01T00:00:00.000Z',
  version: '0.1.0',
  entryAgent: 'entry',
  agents: ['entry', 'helper'],
  instances: [
    { agentName: 'entry', instanceKey: 'default', status: 'working', pid: 4243, queued: 2, crashes: 0 },
    { agentName: 'helper', instanceKey: 'a/b', status: 'waiting', queued: 1, crashes: 3, problem: 'It crashed.' },
  ],
  connections: [{ connection: 'telegram', status: 'listening', pid: 4244, crashes: 0 }],
};

function endOf({ agent, instanceKey, eventId, traceId }: Acceptance, result: TurnResult): TurnEnd {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  return { agent, instanceKey, eventId, traceId, result, stepCount: 1, usage };
}

function failedResult(turnId: string): TurnResult {
  const { code, message, suggestion } = new GoondanError('E_CANCELLED', 'The turn was cancelled.');
  return { turnId, finishReason: 'error', error: { code, message, suggestion } };
}

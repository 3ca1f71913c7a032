/** A fake handle of a swarm, in memory, for tests of the control socket and its clients. */
import { createAssistantMessage, GoondanError, type TurnResult } from '@goondan/types';
import { findReplyProblem } from '../questions/check-reply.ts';
import type { GrantSummary } from '../questions/grant-summary.ts';
import type { QuestionSummary } from '../questions/question-record.ts';
import type { AnswerOf, PlainName, RequestOf } from '../control/operations.ts';
import type { Acceptance, AskOptions, Delivery, Swarm, SwarmNotice, SwarmStatus, TurnEnd } from '../control/swarm.ts';
import { typedAsk } from '../control/typed-ask.ts';
import { typedWatch } from '../control/watch-swarm.ts';

export interface FakeControl extends Swarm {
  /** The calls of the handle's methods, in order. */
  readonly calls: readonly (readonly [name: string, request: unknown])[];
  /** The number of active watchers; `running` lists the running turns. */
  readonly watching: number;
  readonly running: readonly string[];
  /** The options of each caller that waits for a turn, by event id. */
  readonly askers: ReadonlyMap<string, { readonly options: AskOptions }>;
  /** The ids of events whose caller aborted. */
  readonly cancelled: readonly string[];
  /** Sends a notice to every watcher, whatever its filter, and to the caller that waits for the notice's event. */
  tell(notice: SwarmNotice): void;
  /** Ends the turn of an event with this text. */
  finish(eventId: string, text: string): void;
  /** Ends every wait for the turn of an event with this error. */
  fail(eventId: string, error: unknown): void;
  /** Makes the next call of any method fail with this error. */
  failNext(error: unknown): void;
  /** Makes the next `deliver`, `ask` or `instances` wait for this promise. */
  holdNext(until: Promise<unknown>): void;
}

interface Asker {
  readonly end: PromiseWithResolvers<TurnEnd>;
  readonly acceptance: Acceptance;
  readonly options: AskOptions;
}

export function fakeControl(): FakeControl {
  const calls: [string, unknown][] = [];
  const watchers = new Set<(notice: SwarmNotice) => void>();
  const askers = new Map<string, Asker>();
  const accepted = new Set<string>();
  const cancelled: string[] = [];
  const stopped = Promise.withResolvers<void>();
  let failure: { readonly error: unknown } | undefined;
  let hold: Promise<unknown> | undefined;

  const enter = (name: string, request: unknown) => {
    calls.push([name, request]);
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

  const plain: Answers = {
    ...answers,
    deliver: accept,
    async cancel({ eventId = '' }) {
      if (!askers.has(eventId)) return false;
      settle(eventId, ({ end, acceptance }) => end.resolve(endOf(acceptance, failedResult(acceptance.turnId))));
      return true;
    },
    async instances() {
      await held();
      return fakeStatus.instances;
    },
  };
  const methods = Object.entries<(request: never) => unknown>(plain).map(([name, answer]) => [
    name,
    async (request: object = {}) => {
      enter(name, request);
      // The cast is safe: the request belongs to the operation with this name.
      return answer(request as never);
    },
  ]);

  return {
    // The cast is safe: each method has the type of the operation with its name.
    ...(Object.fromEntries(methods) as Pick<Swarm, PlainName>),
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
    ask: typedAsk(async (delivery, options = {}) => {
      enter('ask', delivery);
      const acceptance = await accept(delivery);
      const end = Promise.withResolvers<TurnEnd>();
      askers.set(acceptance.eventId, { end, acceptance, options });
      options.signal?.addEventListener('abort', () => {
        if (!askers.delete(acceptance.eventId)) return;
        cancelled.push(acceptance.eventId);
        end.resolve(endOf(acceptance, failedResult(acceptance.turnId)));
      });
      options.left?.addEventListener('abort', () => {
        askers.delete(acceptance.eventId);
        end.reject(options.left?.reason);
      });
      options.onAccepted?.(acceptance);
      return end.promise;
    }),
    watch: typedWatch(async (filter, listener) => {
      enter('watch', filter);
      const over = Promise.withResolvers<void>();
      const watcher = (notice: SwarmNotice) => listener(notice);
      watchers.add(watcher);
      const end = () => {
        watchers.delete(watcher);
        over.resolve();
      };
      return { end, ended: over.promise };
    }),
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

type Answers = { readonly [Name in PlainName]: (request: RequestOf<Name>) => AnswerOf<Name> | Promise<AnswerOf<Name>> };

/** Answers that never change. */
const answers: Omit<Answers, 'deliver' | 'cancel' | 'instances'> = {
  status: () => fakeStatus,
  deleteInstance: () => ({ inputs: 1 }),
  forkInstance: () => ({ seq: 7, messages: 4, unknownStates: ['notes'] }),
  deadLetters: () => [
    {
      agent: 'entry',
      instanceKey: 'default',
      eventId: 'dead',
      input: 'hi',
      crashes: 3,
      reason: 'It crashed.',
      deadAt: '2026-01-01T00:00:00.000Z',
    },
  ],
  retryDeadLetter: ({ eventId }) => eventId === 'dead',
  dropDeadLetter: ({ eventId }) => eventId === 'dead',
  questions: () => [fakeQuestion],
  answer(reply) {
    const problem = findReplyProblem(reply.id === fakeQuestion.id ? { question: fakeQuestion } : {}, reply);
    if (problem !== undefined) throw problem;
  },
  grants: () => [fakeGrant],
  revoke({ id }) {
    if (id !== fakeGrant.id)
      throw new GoondanError('E_QUESTION_UNKNOWN', `Nothing is always allowed under the id "${id}".`);
  },
  restart: () => 2,
  reload: () => ({
    kept: ['Swarm/fake'],
    changed: ['Agent/entry'],
    added: [],
    removed: [],
    agents: [
      { agent: 'entry', parts: [{ identity: 'Extension/guard', fate: 'updated' }], finishing: ['default'] },
      { agent: 'helper', parts: [{ identity: 'Extension/guard', fate: 'retained' }], finishing: [] },
    ],
  }),
};

export const fakeQuestion: QuestionSummary = {
  id: '3fa9c1d2',
  agent: 'helper',
  instanceKey: 'default',
  eventId: 'mail-17',
  traceId: '0123456789abcdef0123456789abcdef',
  toolCallId: 'call_1',
  toolName: 'bash__exec',
  kind: 'call',
  args: { command: 'npm publish' },
  digest: 'd'.repeat(64),
  reason: 'It changes something outside.',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-02T00:00:00.000Z',
};

export const fakeGrant: GrantSummary = {
  id: '9b1e44c0',
  agent: 'helper',
  instanceKey: 'default',
  toolName: 'bash__exec',
  always: 'tool',
  reason: 'It changes something outside.',
  by: 'ann',
  decidedAt: '2026-01-01T00:00:00.000Z',
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
    { agent: 'entry', instanceKey: 'default', status: 'working', pid: 4243, queued: 2, crashes: 0 },
    { agent: 'helper', instanceKey: 'a/b', status: 'waiting', queued: 1, crashes: 3, problem: 'It crashed.' },
  ],
  connections: [{ connection: 'telegram', status: 'listening', pid: 4244, crashes: 0 }],
  kept: [{ agent: 'entry', extension: 'mcp', status: 'waiting', crashes: 1 }],
};

function endOf({ agent, instanceKey, eventId, traceId }: Acceptance, result: TurnResult): TurnEnd {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  return { agent, instanceKey, eventId, traceId, result, stepCount: 1, usage };
}

function failedResult(turnId: string): TurnResult {
  const { code, message, suggestion } = new GoondanError('E_CANCELLED', 'The turn was cancelled.');
  return { turnId, finishReason: 'error', error: { code, message, suggestion } };
}

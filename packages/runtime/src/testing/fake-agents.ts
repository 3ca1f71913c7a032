/** Agents without processes, for tests of the orchestrator. The test decides how each one answers. */
import { type AgentAddress, type AgentEvent, createAssistantMessage, type TurnResult } from '@goondan/types';
import type { AgentStart } from '../config/agent-start.ts';
import type { AgentDescription, FromAgent } from '../ipc/from-agent.ts';
import type { CallOutcome, ToAgent } from '../ipc/to-agent.ts';
import type { Spawn } from '../ipc/spawn.ts';
import { defined } from '../json/defined.ts';
import { type FakeChild, fakeSpawn, type FakeSpawnOptions } from './fake-spawn.ts';

type Child = FakeChild<ToAgent, FromAgent>;

/** The description of an agent without parts. */
export const noParts: AgentDescription = { extensions: [], layers: [], tools: [] };

/** One turn of a fake agent. */
export interface FakeTurn {
  readonly at: AgentAddress;
  readonly event: AgentEvent;
  readonly deadLetter: boolean;
  readonly child: Child;
  /** Aborts when the turn is cancelled, with the reason of the cancel. */
  readonly signal: AbortSignal;
  /** Sends a request or an event to another agent. */
  readonly call: (
    kind: 'request' | 'send',
    to: Partial<AgentAddress> & { agentName: string },
    options?: FakeCall,
  ) => Promise<CallOutcome>;
}

export interface FakeCall {
  readonly input?: string;
  readonly timeoutMs?: number;
  /** The moment from which the timeout counts; the start of the called turn when absent. */
  readonly timeoutFrom?: 'call' | 'turn';
  /** Gets the second end of a call whose first end said `usageFollows`. */
  readonly onLate?: (outcome: CallOutcome) => void;
  /** The id of the call. A second call with the same id is the same call. */
  readonly id?: string;
}

/**
 * Returns the text of the answer. If the function throws, the turn fails. If it returns `undefined`, there is no
 * answer, as when a process has exited or hangs.
 */
export type FakeAnswer = (turn: FakeTurn) => Promise<string | undefined>;

export interface FakeAgents {
  readonly spawn: Spawn;
  readonly children: readonly Child[];
  /** Children that got a plan, with their addresses, in the order of their starts. */
  readonly started: readonly {
    readonly at: AgentAddress;
    readonly child: Child;
    readonly start: AgentStart;
  }[];
  /** If set, this function is called at the start of a child, instead of sending `ready`. */
  onStart: ((child: Child) => void) | undefined;
  /** If set, this function is called when a child is asked to prepare a change, instead of sending `change.ready`. */
  onChange: ((child: Child, message: Extract<ToAgent, { type: 'change.prepare' }>) => void) | undefined;
  /** If true, a child begins the event that it was handed ahead. Otherwise it waits until the event is sent again. */
  beginsAhead: boolean;
  /** If set, this function is called when an event is taken back from a child, instead of returning the event. */
  onTakeBack: ((returnIt: () => void) => void) | undefined;
  /** If true, a child that is told to swap says nothing, as in the middle of a step. */
  isSlow: boolean;
  /** The swaps and drops of all children so far. */
  readonly changes: { readonly at: AgentAddress; readonly type: string; readonly change: number }[];
}

/**
 * Starts fake agents. Each one remembers its answers, as a conversation does: the same event gets the same answer
 * again.
 */
export function fakeAgents(
  answer: FakeAnswer,
  options: Pick<FakeSpawnOptions, 'clock' | 'beforeSend'> = {},
): FakeAgents {
  const fake = fakeSpawn<ToAgent, FromAgent>(options);
  const started: { at: AgentAddress; child: Child; start: AgentStart }[] = [];
  const finished = new Map<string, TurnResult>();
  const spawn: Spawn = (language, request) => {
    const child = fake.spawn(language, request);
    const newest = fake.children.at(-1);
    if (newest !== undefined) play(newest);
    return child;
  };
  const agents: FakeAgents = {
    spawn,
    children: fake.children,
    started,
    onStart: undefined,
    onChange: undefined,
    beginsAhead: false,
    onTakeBack: undefined,
    isSlow: false,
    changes: [],
  };
  return agents;

  function play(child: Child): void {
    const waiting = new Map<string, (outcome: CallOutcome) => void>();
    let at: AgentAddress = { agentName: '', instanceKey: '' };
    let running: { readonly eventId: string; readonly stop: AbortController; readonly done: Promise<void> } | undefined;
    let early: { readonly eventId: string; readonly reason: string } | undefined;
    /** The event that was handed ahead, and has not begun. */
    let ahead: AgentEvent | undefined;
    const say = (message: FromAgent) => child.channel.send(message).catch(() => undefined);
    child.channel.onMessage((message) => {
      switch (message.type) {
        case 'start': {
          // The cast is safe: the plan is an `AgentStart`, which the orchestrator made.
          const start = message.plan as unknown as AgentStart;
          at = start.address;
          started.push({ at, child, start });
          if (agents.onStart !== undefined) return agents.onStart(child);
          return void say({ type: 'ready', ...noParts });
        }
        case 'turn':
          ahead = undefined;
          void say({ type: 'turn.begun' });
          return begin(message.event, message.deadLetter === true);
        case 'turn.ahead':
          ahead = message.event;
          return;
        case 'turn.back': {
          const returnIt = () => {
            ahead = undefined;
            void say({ type: 'turn.returned', eventId: message.eventId });
          };
          return agents.onTakeBack === undefined ? returnIt() : agents.onTakeBack(returnIt);
        }
        case 'cancel':
          if (running?.eventId === message.eventId) running.stop.abort(message.reason);
          // A cancel may arrive before the turn that it cancels.
          else early = message;
          return;
        case 'call.ended':
          return waiting.get(message.callId)?.(message.outcome);
        case 'change.prepare':
          if (agents.onChange !== undefined) return agents.onChange(child, message);
          return void say({ type: 'change.ready', change: message.change });
        case 'change.swap':
        case 'change.drop':
          agents.changes.push({ at, type: message.type, change: message.change });
          if (message.type === 'change.drop' || agents.isSlow) return;
          return void say({ type: 'change.swapped', change: message.change });
        case 'ping':
          return void say({ type: 'pong', n: message.n });
        case 'drain':
          ahead = undefined;
          return void Promise.resolve(running?.done).then(async () => {
            await say({ type: 'drained' });
            child.exit({ code: 0 });
          });
        default:
          return;
      }
    });

    function begin(event: AgentEvent, deadLetter: boolean): void {
      const stop = new AbortController();
      if (early?.eventId === event.id) stop.abort(early.reason);
      const done = run(event, deadLetter, stop.signal);
      running = { eventId: event.id, stop, done };
    }

    async function run(event: AgentEvent, deadLetter: boolean, signal: AbortSignal): Promise<void> {
      const key = JSON.stringify([at, event.id]);
      const result = finished.get(key) ?? (await resultOf(event, deadLetter, signal));
      if (result === undefined) return new Promise(() => undefined);
      finished.set(key, result);
      const next = agents.beginsAhead ? ahead : undefined;
      ahead = undefined;
      const begins = next === undefined ? {} : { begins: next.id };
      await say({ type: 'turn.done', eventId: event.id, result, stepCount: 1, usage: fakeUsage, ...begins });
      if (next !== undefined) begin(next, false);
    }

    async function resultOf(
      event: AgentEvent,
      deadLetter: boolean,
      signal: AbortSignal,
    ): Promise<TurnResult | undefined> {
      const turnId = `turn-${event.id}`;
      try {
        const text = await answer({ at, event, deadLetter, child, signal, call });
        if (text === undefined) return undefined;
        const responseMessage = createAssistantMessage(text, {}, { id: `${turnId}.1` });
        return { turnId, finishReason: 'text_response', responseMessage };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { turnId, finishReason: 'error', error: { message, code: 'E_STEP_FAILED' } };
      }

      function call(
        kind: 'request' | 'send',
        to: Partial<AgentAddress> & { agentName: string },
        { input = '', timeoutMs, timeoutFrom, onLate, id = crypto.randomUUID() }: FakeCall = {},
      ): Promise<CallOutcome> {
        const callId = crypto.randomUUID();
        const ended = Promise.withResolvers<CallOutcome>();
        waiting.set(callId, (outcome) => {
          const isLast = outcome.status !== 'failed' || outcome.usageFollows !== true || onLate === undefined;
          if (isLast) waiting.delete(callId);
          else waiting.set(callId, onLate);
          ended.resolve(outcome);
        });
        const address = { instanceKey: at.instanceKey, ...to };
        const asked = { ...event, id, input, instanceKey: address.instanceKey };
        void say({
          type: 'call',
          callId,
          kind,
          to: address,
          event: asked,
          ...defined({ timeoutMs, timeoutFrom }),
        });
        return ended.promise;
      }
    }
  }
}

/** The tokens of each turn of a fake agent. */
export const fakeUsage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

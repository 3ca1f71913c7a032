/** The inputs of a simulated client and the reactions of the agent, all derived from the seed. */
import type { AgentAddress, AgentEvent, JsonValue } from '@goondan/types';
import { seededRandom, type Random } from './seeded-random.ts';

export interface Workload {
  readonly seed: number;
  readonly instances: readonly AgentAddress[];
  /** The inputs in the order of sending. The client sends an input only after the previous input was acknowledged. */
  readonly inputs: readonly Input[];
  /** The longest duration of a sync, in ticks. Other work runs during a sync. */
  readonly syncTicks: number;
  /** The number of resumes after which a turn is given up. */
  readonly crashesBeforeDeadLetter: number;
}

export interface Input {
  readonly instance: AgentAddress;
  readonly event: AgentEvent;
  readonly script: TurnScript;
  /**
   * If true, a stray turn is started before this input's turn and never finished. The event of the stray turn is in no
   * inbox.
   */
  readonly isAfterStray: boolean;
  /**
   * The time of a reset of the conversation: before the turn, after it, or in the middle of it, after this many writes.
   */
  readonly reset: 'none' | 'before' | 'after' | { readonly afterWrites: number };
  /** If true, the input is sent during the previous turn. */
  readonly isSentDuringTurn: boolean;
  /** The number of ticks that pass before other work runs during this input's turn. */
  readonly ticks: number;
  /** If true, the client sends this input and all inputs before it a second time, although they were acknowledged. */
  readonly isSentTwice: boolean;
  /** If true, the answer is fetched and acknowledged. */
  readonly isAnswerFetched: boolean;
  /**
   * The time when an extension sets a state outside of a turn: before the turn of this input (which may be a resumed
   * turn), or after it.
   */
  readonly setsState: 'never' | 'before' | 'after' | 'both';
}

export interface TurnScript {
  readonly steps: readonly StepScript[];
  /** If true, an extension appends a note before `next()`. */
  readonly note: boolean;
  /** The change that an extension makes to the conversation after `next()`. */
  readonly edit: 'none' | 'remove' | 'replace' | 'truncate';
  readonly fails: boolean;
  readonly state: 'keep' | 'count' | 'forget';
}

export interface StepScript {
  readonly outcome: 'completed' | 'dropped' | 'kept';
  readonly tools: readonly { readonly isIdempotent: boolean }[];
  /** If true, the messages of the step and its record are appended in one call. */
  readonly isOneWrite: boolean;
}

const CREATED_AT = new Date('2026-01-02T03:04:05.678Z');

export function makeWorkload(seed: number): Workload {
  const random = seededRandom(seed, 1);
  const instances = [
    { agentName: 'coder', instanceKey: 'default' },
    { agentName: 'coder', instanceKey: '한글/key' },
  ].slice(0, 1 + random.below(2));
  const syncTicks = random.chance(0.2) ? 80 : 0;
  const length = 2 + random.below(3);
  const resets = seededRandom(seed, 3);
  const states = seededRandom(seed, 4);
  const inputs = Array.from({ length }, (_, index) => {
    const input = makeInput(index, instances, syncTicks, random, resets);
    return { ...input, setsState: states.pick(['never', 'before', 'after', 'after', 'both'] as const) };
  });
  return { seed, instances, inputs, syncTicks, crashesBeforeDeadLetter: random.chance(0.25) ? 1 : 3 };
}

function makeInput(
  index: number,
  instances: readonly AgentAddress[],
  syncTicks: number,
  random: Random,
  resets: Random,
): Omit<Input, 'setsState'> {
  const instance = random.pick(instances);
  const id = `e${index}`;
  const event: AgentEvent = {
    id,
    type: 'user.message',
    input: `input ${index} ${'é'.repeat(random.below(20))}`,
    instanceKey: instance.instanceKey,
    source: { kind: 'cli', name: 'simulation' },
    traceId: id,
    createdAt: CREATED_AT,
    ...(random.chance(0.4) && { replyTo: { target: 'client', correlationId: id } }),
  };
  return {
    instance,
    event,
    script: makeScript(random),
    isAfterStray: random.chance(0.15),
    reset: makeReset(resets),
    isSentDuringTurn: random.chance(0.4),
    ticks: random.below(2 * syncTicks + 1),
    isSentTwice: random.chance(0.3),
    isAnswerFetched: random.chance(0.5),
  };
}

function makeReset(random: Random): Input['reset'] {
  if (!random.chance(0.2)) return 'none';
  return random.pick(['before', 'after', { afterWrites: random.below(6) }, { afterWrites: random.below(6) }]);
}

function makeScript(random: Random): TurnScript {
  const steps = Array.from({ length: random.below(2) }, () => ({
    outcome: random.pick(['completed', 'completed', 'completed', 'dropped', 'kept'] as const),
    tools: Array.from({ length: random.below(3) }, () => ({ isIdempotent: random.chance(0.5) })),
    isOneWrite: random.chance(0.5),
  }));
  return {
    steps: [...steps, { outcome: 'completed', tools: [], isOneWrite: random.chance(0.5) }],
    note: random.chance(0.4),
    edit: random.pick(['none', 'none', 'none', 'remove', 'replace', 'truncate']),
    fails: random.chance(0.2),
    state: random.pick(['keep', 'count', 'count', 'forget']),
  };
}

/** The name of the state that is set outside of turns. */
export const BETWEEN = 'between';

/** Returns the extension states after a turn with this script. */
export function stateAfter(
  state: Readonly<Record<string, JsonValue>>,
  { state: change }: TurnScript,
  turnId: string,
): Record<string, JsonValue> {
  if (change === 'keep') return { ...state };
  if (change === 'forget') return Object.fromEntries(Object.entries(state).filter(([name]) => name !== 'last/turn'));
  const count = state['counter'];
  return { ...state, counter: typeof count === 'number' ? count + 1 : 1, 'last/turn': { turnId } };
}

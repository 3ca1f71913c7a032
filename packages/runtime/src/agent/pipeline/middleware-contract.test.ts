/**
 * Tests the whole contract of a layer, in combinations: every correct and every wrong behaviour, in each of three
 * layers, for every kind, with and without `onError: 'skip'`. The `predict` of each behaviour applies the rules to the
 * prediction for the layers inside it. A whole agent then runs the combination, and its outcome must equal the
 * prediction.
 */
import { expect, test } from 'bun:test';
import { sampleStep } from '../../../../../test/samples.ts';
import { seed } from '../../../../../test/seed.ts';
import {
  createAssistantMessage,
  GoondanError,
  type MiddlewareKind,
  type MiddlewareOptions,
  type ModelReply,
  type StepResult,
  type ToolCallResult,
  type TurnMiddleware,
  type TurnResult,
  textOf,
} from '@goondan/types';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { extension, scriptedAgent } from '../../testing/index.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { extensionOf, toTurnError } from './turn-error.ts';

/** How a chain ended: the mark of its result, or the error code and the extension that it names. */
type Outcome = { readonly mark: string } | { readonly code: string; readonly blamed: string };

interface Prediction {
  readonly outcome: Outcome;
  readonly coreRuns: number;
  /** The warnings as `event extension`, in any order. */
  readonly warnings: readonly string[];
}

interface Context {
  readonly turnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  next(): Promise<unknown>;
}

/** Helpers that a misbehaving layer gets in addition to its context. */
interface Surroundings {
  /** Returns a valid result of the kind, with this layer's mark. */
  readonly own: () => unknown;
  readonly wrong: () => unknown;
  readonly throwError: () => never;
  /** Runs `action` after the turn has ended. */
  readonly later: (action: () => Promise<unknown>) => void;
}

interface Behaviour {
  readonly options?: MiddlewareOptions;
  readonly run: (ctx: Context, around: Surroundings) => Promise<unknown>;
  readonly predict: (layer: string, inside: () => Prediction) => Prediction;
}

const never = () => new Promise<never>(() => undefined);
const alone = (outcome: Outcome, ...warnings: string[]): Prediction => ({ outcome, coreRuns: 0, warnings });
const failing = (code: string) => (layer: string) => alone({ code, blamed: layer });
/** Predicts a layer that makes its mistake only after everything inside it has succeeded. */
const failingAfter = (code: string) => (layer: string, inside: () => Prediction) => {
  const inner = inside();
  return 'code' in inner.outcome ? inner : { ...inner, outcome: { code, blamed: layer } };
};

const behaviours: Readonly<Record<string, Behaviour>> = {
  passes: { run: (ctx) => ctx.next(), predict: (_, inside) => inside() },
  transforms: {
    async run(ctx, { own }) {
      await ctx.next();
      return own();
    },
    predict(layer, inside) {
      const inner = inside();
      return 'code' in inner.outcome ? inner : { ...inner, outcome: { mark: layer } };
    },
  },
  'never calls next': {
    run: async (_, { own }) => own(),
    predict: (layer) => alone({ mark: layer }, `middleware.short_circuit ${layer}`),
  },
  'never calls next, and said so': {
    options: { mayShortCircuit: true },
    run: async (_, { own }) => own(),
    predict: (layer) => alone({ mark: layer }),
  },
  'calls next twice and swallows it': {
    async run(ctx) {
      const result = await ctx.next();
      await ctx.next().catch(() => undefined);
      return result;
    },
    predict: failingAfter('E_NEXT_TWICE'),
  },
  'calls next twice': {
    async run(ctx) {
      await ctx.next();
      return ctx.next();
    },
    predict: failingAfter('E_NEXT_TWICE'),
  },
  'calls next only after it returned': {
    async run(ctx, { own, later }) {
      later(() => ctx.next());
      return own();
    },
    predict: (layer) => alone({ mark: layer }, `middleware.short_circuit ${layer}`, `middleware.next_late ${layer}`),
  },
  'calls next again after it returned': {
    async run(ctx, { later }) {
      later(() => ctx.next());
      return ctx.next();
    },
    predict(layer, inside) {
      const inner = inside();
      return { ...inner, warnings: [...inner.warnings, `middleware.next_late ${layer}`] };
    },
  },
  'does not wait for next': {
    async run(ctx, { own }) {
      void ctx.next();
      return own();
    },
    predict: (layer, inside) => ({ ...inside(), outcome: { code: 'E_NEXT_NOT_AWAITED', blamed: layer } }),
  },
  'throws before next': {
    run: async (_, { throwError }) => throwError(),
    predict: failing('E_EXT_MIDDLEWARE'),
  },
  'throws after next': {
    async run(ctx, { throwError }) {
      await ctx.next();
      return throwError();
    },
    predict: failingAfter('E_EXT_MIDDLEWARE'),
  },
  'throws what is no error': {
    run: () => Promise.reject('oops'),
    predict: failing('E_EXT_MIDDLEWARE'),
  },
  'hangs before next': { options: { timeoutMs: 1 }, run: never, predict: failing('E_MIDDLEWARE_TIMEOUT') },
  'hangs after next': {
    options: { timeoutMs: 1 },
    async run(ctx) {
      await ctx.next();
      return never();
    },
    predict: failingAfter('E_MIDDLEWARE_TIMEOUT'),
  },
  'returns a wrong shape': { run: async (_, { wrong }) => wrong(), predict: failing('E_MIDDLEWARE_RESULT') },
  'returns a wrong shape after next': {
    async run(ctx, { wrong }) {
      await ctx.next();
      return wrong();
    },
    predict: failingAfter('E_MIDDLEWARE_RESULT'),
  },
  'returns an object that inherits the result': {
    // Safe: the result of `next()` is an object.
    run: async (ctx) => Object.create((await ctx.next()) as object) as unknown,
    predict: failingAfter('E_MIDDLEWARE_RESULT'),
  },
};

const names = Object.keys(behaviours);
const layers = ['outer', 'middle', 'inner'] as const;

/** One behaviour for each of the three layers, and whether the layer has `onError: 'skip'`. */
interface Combination {
  readonly chosen: readonly { readonly name: string; readonly skips: boolean }[];
  readonly number: number;
}

// One share has every pair of behaviours already.
const shares = sampleStep === 1 ? names.length : 1;
const firstShare = seed % names.length;

/**
 * Tells whether this run tests the combination. The combinations are divided into as many shares as there are
 * behaviours, and in each share every pair of behaviours of two layers occurs once.
 */
function isDue(triple: readonly string[]): boolean {
  const sum = triple.reduce((total, name) => total + names.indexOf(name), firstShare);
  return sum % names.length < shares;
}

function* combinations(): Generator<Combination> {
  let number = 0;
  for (const outer of names) {
    for (const middle of names) {
      for (const inner of names) {
        const triple = [outer, middle, inner];
        if (!isDue(triple)) {
          number += 2;
          continue;
        }
        yield { chosen: triple.map((name) => ({ name, skips: false })), number: number++ };
        // The mask takes the values 1 to 7 in turn, so that every set of layers gets `onError: 'skip'`.
        const mask = 1 + (number % 7);
        yield { chosen: triple.map((name, index) => ({ name, skips: ((mask >> index) & 1) === 1 })), number: number++ };
      }
    }
  }
}

function predict({ chosen }: Combination, index = 0): Prediction {
  const choice = chosen[index];
  const layer = layers[index];
  if (choice === undefined || layer === undefined) return { outcome: { mark: 'core' }, coreRuns: 1, warnings: [] };
  let inner: Prediction | undefined;
  const inside = () => (inner ??= predict({ chosen, number: 0 }, index + 1));
  const own = behaviour(choice.name).predict(layer, inside);
  if (!choice.skips || !('code' in own.outcome) || own.outcome.blamed !== layer) return own;
  // When a layer is skipped, only its warning is added to the prediction for the inside, whether or not it had called
  // `next()`.
  return { ...inside(), warnings: [...inside().warnings, `middleware.skipped ${layer}`] };
}

function behaviour(name: string): Behaviour {
  const found = behaviours[name];
  if (found === undefined) throw new Error(`no behaviour "${name}"`);
  return found;
}

interface Kind {
  readonly input: string;
  own(ctx: Context, mark: string): unknown;
  markOf(result: never): unknown;
  /** Results that are wrong for this kind, in addition to those that are wrong for every kind. */
  readonly wrong: readonly unknown[];
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const kinds: Readonly<Record<MiddlewareKind, Kind>> = {
  turn: {
    input: 'answer',
    own: ({ turnId }, mark): TurnResult => ({
      turnId,
      finishReason: 'text_response',
      responseMessage: createAssistantMessage(mark),
    }),
    markOf: (result: TurnResult) => textOf(result.responseMessage),
    wrong: [
      { turnId: 'turn-1', finishReason: 'done' },
      { turnId: 't', finishReason: 'max_steps', responseMessage: {} },
    ],
  },
  step: {
    input: 'answer',
    own: (_, mark): StepResult => ({
      status: 'completed',
      hasToolCalls: false,
      toolCalls: [],
      toolResults: [],
      metadata: { mark },
    }),
    markOf: (result: StepResult) => result.metadata.mark ?? 'core',
    wrong: [{ status: 'completed' }, { status: 'completed', hasToolCalls: false, toolCalls: [], toolResults: [] }],
  },
  toolCall: {
    input: 'use the tool',
    own: ({ toolCallId, toolName }, mark): ToolCallResult => ({ toolCallId, toolName, status: 'ok', output: mark }),
    markOf: (result: ToolCallResult) => result.output,
    wrong: [
      { status: 'ok', output: 1 },
      { toolCallId: 'another', toolName: 'probe__run', status: 'ok' },
    ],
  },
  model: {
    input: 'answer',
    own: (_, mark): ModelReply => ({ content: [{ type: 'text', text: mark }], finishReason: 'stop', usage }),
    markOf: (reply: ModelReply) => reply.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    wrong: [
      { content: 'text', finishReason: 'stop', usage },
      { content: [], finishReason: 'stop', usage: {} },
    ],
  },
};
const wrongForAll = [undefined, null, 'done', 42, [], {}, Symbol('result'), () => undefined];

/**
 * A clock on which the short deadlines of layers expire as soon as nothing else is left to do. The long deadlines of
 * turns and tools never expire.
 */
const hurriedClock: Clock = {
  ...systemClock,
  after(ms, action) {
    if (ms > 5) return () => undefined;
    const immediate = setImmediate(action);
    return () => clearImmediate(immediate);
  },
};

/** Runs a combination with a real agent and describes the outcome in the form of a prediction. */
async function observe(kindName: MiddlewareKind, { chosen, number }: Combination) {
  const kind = kinds[kindName];
  const laterActions: (() => Promise<unknown>)[] = [];
  const thrown: unknown[] = [];
  let handlerRuns = 0;
  let ended: { result: unknown } | { error: unknown } | undefined;

  const misbehaving = chosen.map(({ name, skips }, index) => {
    const layer = layers[index] ?? '';
    const { run, options } = behaviour(name);
    const around = (ctx: Context): Surroundings => ({
      own: () => kind.own(ctx, layer),
      wrong: () => [...wrongForAll, ...kind.wrong][number % (wrongForAll.length + kind.wrong.length)],
      throwError() {
        const error = new Error(`${layer} threw`);
        thrown.push(error);
        throw error;
      },
      later: (action) => void laterActions.push(action),
    });
    return layered(layer, (ctx) => run(ctx, around(ctx)), { ...options, onError: skips ? 'skip' : 'fail' });
  });
  const watch = layered('watch', async (ctx) => {
    try {
      const result = await ctx.next();
      ended = { result };
      return result;
    } catch (error) {
      ended = { error };
      throw error;
    }
  });
  function layered(name: string, run: (ctx: Context) => Promise<unknown>, options: MiddlewareOptions = {}) {
    // The casts are needed because layers return wrong values here on purpose, and one function serves all kinds.
    return extension(name, ({ pipeline }) =>
      pipeline.register(kindName as 'turn', run as unknown as TurnMiddleware, options),
    );
  }
  const probe: ToolDeclaration = {
    name: 'probe',
    exports: [{ name: 'run', description: '' }],
    handlers: {
      run() {
        handlerRuns++;
        return 'core';
      },
    },
  };

  const agent = await scriptedAgent({
    script: [{ when: 'tool', call: { tool: 'probe__run' } }, { say: 'core' }],
    tools: [probe],
    extensions: [watch, ...misbehaving],
    clock: hurriedClock,
  });
  const { result } = await agent.say(kind.input);
  const coreRuns = () => (kindName === 'toolCall' ? handlerRuns : agent.requests.length);
  const coreRunsInTurn = coreRuns();
  const late = await Promise.all(laterActions.map((action) => action().then(() => 'ran', codeOf)));

  return {
    outcome: outcomeOf(),
    coreRuns: coreRunsInTurn,
    warnings: agent.logs.flatMap(({ event, extension: name }) =>
      event?.startsWith('middleware.') ? `${event} ${name}` : [],
    ),
    late: late.every((code) => code === 'E_NEXT_LATE') && coreRuns() === coreRunsInTurn,
    turn: turnEnd(),
  };

  function outcomeOf(): Outcome | string {
    if (ended === undefined) return 'the chain never ended';
    // The cast is safe: the result passed the chain's own check.
    if ('result' in ended) return { mark: String(kind.markOf(ended.result as never)) };
    const { error } = ended;
    const isItself = thrown.includes(error) || error instanceof GoondanError;
    return isItself ? { code: codeOf(error), blamed: extensionOf(error) ?? 'nobody' } : 'it was wrapped';
  }
  /**
   * Describes how the turn ended, and the extension that its error names. An error of a toolCall chain never ends a
   * turn.
   */
  function turnEnd(): string {
    const { finishReason, error } = result;
    return finishReason === 'error' ? `${error?.code} ${error?.extension}` : finishReason;
  }
}

function codeOf(error: unknown): string {
  return toTurnError(error, 'E_EXT_MIDDLEWARE').code ?? '';
}

/** Formats everything that must be equal as text. */
function describe(of: {
  outcome: unknown;
  coreRuns: number;
  warnings: readonly string[];
  late: boolean;
  turn: string;
}) {
  return JSON.stringify({ ...of, warnings: of.warnings.toSorted() });
}

test.each(Object.keys(kinds) as MiddlewareKind[])(
  'P-10 P-11 P-12 every combination of behaviours in three %s layers ends as the rules say',
  async (kind) => {
    const disagreements: string[] = [];
    let count = 0;
    let mostCoreRuns = 0;
    for (const combination of combinations()) {
      count++;
      const predicted = predict(combination);
      const { outcome } = predicted;
      const turn = kind === 'toolCall' || 'mark' in outcome ? 'text_response' : `${outcome.code} ${outcome.blamed}`;
      const observed = await observe(kind, combination);
      mostCoreRuns = Math.max(mostCoreRuns, observed.coreRuns);
      const [is, shouldBe] = [describe(observed), describe({ ...predicted, late: true, turn })];
      if (is !== shouldBe) disagreements.push(`${JSON.stringify(combination.chosen)}: ${is}, should be ${shouldBe}`);
    }
    expect(disagreements.slice(0, 5)).toEqual([]);
    expect(mostCoreRuns).toBe(1);
    expect(count).toBe(2 * shares * names.length ** (layers.length - 1));
  },
  120_000,
);

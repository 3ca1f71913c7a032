// Tests turns that did not end in the process that began them: cancelled, out of time, suspended, crashed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createSystemMessage, type ExtensionRegister, GoondanError, textOf } from '@goondan/types';
import { extension, fakeApprover } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';
import { recordRuns } from '../../testing/record-runs.ts';
import type { ReplayOutcome, ReplaySource } from '../../trace/replay.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { watchDraws } from '../draws/watch-draws.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { replayTurn } from './replay-turn.ts';

let unwatch: () => void;
beforeAll(() => {
  unwatch = watchDraws();
});
afterAll(() => unwatch());

const script = [
  { when: 'look', call: { tool: 'place__look', args: { city: 'Bonn' } } },
  {
    when: 'both',
    calls: [
      { tool: 'place__look', args: { n: 1 } },
      { tool: 'place__wait', args: { n: 2 } },
    ],
  },
  { when: 'wait', call: { tool: 'place__wait', args: { city: 'Bonn' } } },
  { when: 'fail once', fail: { message: 'overloaded', retryable: true, times: 1 } },
  { when: 'busy', fail: { message: 'overloaded', retryable: true, times: 9 } },
  { afterTool: 'place__look', call: { tool: 'place__wait', args: {} } },
  { say: 'done' },
];

type Handler = () => string | Promise<string>;
type Layers = Readonly<Record<string, ExtensionRegister>>;

function planOf(layers: Layers, wait: Handler = forEver, more: Partial<AgentPlan> = {}): AgentPlan {
  const place: ToolDeclaration = {
    name: 'place',
    exports: ['look', 'wait'].map((name) => ({
      name,
      description: name,
      parameters: { type: 'object' },
      // A call without effects would run again after a crash.
      effects: name === 'look' ? 'none' : 'local',
      parallel: true,
    })),
    handlers: { look: () => 'a town', wait },
  };
  return {
    agentName: 'helper',
    models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
    tools: [place],
    extensions: Object.entries(layers).map(([name, register]) => extension(name, register)),
    ...more,
    policy: { unwindMs: 200, ...more.policy },
  };
}

function forEver(): Promise<never> {
  return new Promise(() => undefined);
}

/** Creates a promise, and a handler that resolves the promise and then hangs. */
function moment() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hang = () => {
    resolve();
    return forEver();
  };
  return { promise, resolve, hang };
}

/** Waits a little longer, until the turn's traces are written. */
const onDisk = ({ promise }: { promise: Promise<void> }) => promise.then(() => Bun.sleep(20));

const saying = (text: string): ExtensionRegister =>
  layerOf('step', (ctx) => {
    ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(`${text} ${crypto.randomUUID()}`) });
    return ctx.next();
  });

const remembering = (text: string): ExtensionRegister =>
  layerOf('turn', (ctx) => {
    ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(`${text} ${crypto.randomUUID()}`) });
    return ctx.next();
  });

const guarding = (days: number): ExtensionRegister =>
  layerOf('toolCall', (ctx) => {
    ctx.args = { ...ctx.args, days, at: Date.now() };
    return ctx.next();
  });

const counting: ExtensionRegister = ({ pipeline, state }) =>
  pipeline.register('turn', async (ctx) => {
    const before = Math.random();
    await state.set({ before });
    ctx.metadata['count'] = 1;
    const result = await ctx.next();
    await state.set({ before, after: Math.random(), metadata: ctx.metadata });
    return result;
  });

const idle: ExtensionRegister = ({ pipeline }) => {
  pipeline.register('turn', (ctx) => ctx.next());
  pipeline.register('step', (ctx) => ctx.next());
  pipeline.register('toolCall', (ctx) => ctx.next());
};

const layers = {
  say: saying('be kind'),
  remember: remembering('you know me'),
  guard: guarding(3),
  count: counting,
  idle,
};

const cancelled = () => new GoondanError('E_CANCELLED', 'The turn was cancelled: no more.');

/** Runs a turn, cancels it when `wait` is reached, and returns a function that replays it with other layers. */
async function cancel(input: string, then: Layers, wait: { promise: Promise<void>; hang: Handler }) {
  const controller = new AbortController();
  void wait.promise.then(() => controller.abort(cancelled()));
  const { result, starts } = await recordRuns(input, [{ plan: planOf(then, wait.hang), signal: controller.signal }]);
  expect(result.error?.code).toBe('E_CANCELLED');
  return (now: Layers) => replayTurn(planOf(now), starts[0] as ReplaySource);
}

/** Expects an outcome without a divergence. */
function same(outcome: ReplayOutcome | undefined): ReplayOutcome | undefined {
  expect(outcome?.first).toBeUndefined();
  return outcome;
}

const nothing = { model: 0, tool: 0, agent: 0, approval: 0 };

describe('a cancelled turn', () => {
  test('in a tool call is replayed up to it: finished layers are compared, and the open call is aborted as recorded', async () => {
    const replay = await cancel('look', layers, moment());
    const outcome = await replay(layers);
    expect(outcome).toEqual({
      others: 0,
      layers: 11,
      steps: 2,
      served: { ...nothing, model: 2, tool: 1 },
      halted: {
        how: 'cancelled',
        place: ['step 1', 'toolCall place__wait'],
        error: 'E_CANCELLED: The turn was cancelled: no more.',
      },
    });
    const guard = await replay({ ...layers, guard: guarding(7) });
    expect(guard.first).toMatchObject({ place: ['step 0', 'toolCall place__look'], extension: 'guard', what: 'field' });
    expect(guard.halted).toBeUndefined();
    expect((await replay({ ...layers, remember: remembering('who are you') })).first).toMatchObject({
      place: [],
      extension: 'remember',
      what: 'message',
    });
    const short: ExtensionRegister = layerOf(
      'turn',
      async ({ turnId }) => ({ turnId, finishReason: 'text_response' }),
      {
        mayShortCircuit: true,
      },
    );
    expect((await replay({ ...layers, count: short })).first).toMatchObject({
      extension: 'count',
      changes: [{ path: 'outcome', before: 'called next()', after: 'did not call next()' }],
    });
    const { idle: _, ...busy } = layers;
    expect(same(await replay(busy))).toMatchObject({ others: 0, halted: { how: 'cancelled' } });
    const { say: _say, ...unkind } = layers;
    expect((await replay(unkind)).first).toMatchObject({ extension: 'say', what: 'gone' });
  });

  test('gives running layers the same signal, and runs none of their effects', async () => {
    const heard: unknown[] = [];
    const hearing: ExtensionRegister = layerOf('toolCall', async (ctx) => {
      try {
        return await ctx.next();
      } finally {
        if (ctx.signal.aborted) heard.push((ctx.signal.reason as GoondanError).message);
      }
    });
    const replay = await cancel('wait', { hear: hearing }, moment());
    expect(same(await replay({ hear: hearing }))).toMatchObject({ others: 0, layers: 1, halted: { how: 'cancelled' } });
    expect(heard).toEqual(Array.from({ length: 2 }, () => 'The turn was cancelled: no more.'));
  });

  test('in a layer that waited for something of its own is replayed up to that wait', async () => {
    const reached = moment();
    let aborts = 0;
    const waiting: ExtensionRegister = layerOf('step', async (ctx) => {
      expect(ctx.signal.aborted).toBe(false);
      reached.resolve();
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve(), { once: true }));
      aborts += 1;
      return ctx.next();
    });
    const then = { say: saying('be kind'), wait: waiting };
    const replay = await cancel('look', then, reached);
    const halted = { how: 'cancelled', place: ['step 0'], layer: { extension: 'wait', name: 'step' } };
    expect(same(await replay(then))).toMatchObject({ others: 0, steps: 1, served: nothing, halted });
    expect(aborts).toBe(2);
    expect((await replay({ ...then, say: saying('be unkind') })).first).toMatchObject({ extension: 'say' });
    // If the layer that was running is removed, everything before it is still compared.
    expect(same(await replay({ say: then.say }))).toMatchObject({ others: 0, halted });
  });

  test('in a layer after next(): effects that the cancel causes are not part of the recording', async () => {
    const reached = moment();
    const last: ExtensionRegister = layerOf('step', async (ctx) => {
      ctx.signal.addEventListener('abort', () => void ctx.agents.list().catch(() => undefined), { once: true });
      const result = await ctx.next();
      reached.resolve();
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve(), { once: true }));
      return result;
    });
    const closing = (text: string): ExtensionRegister =>
      layerOf('step', async (ctx) => {
        const result = await ctx.next();
        ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(text) });
        return result;
      });
    const replay = await cancel('hello', { last, close: closing('bye') }, reached);
    const halted = { how: 'cancelled', place: ['step 0'], layer: { extension: 'last', name: 'step' } };
    expect(same(await replay({ last, close: closing('bye') }))).toMatchObject({ others: 0, layers: 2, halted });
    expect((await replay({ last, close: closing('see you') })).first).toMatchObject({ extension: 'close' });
  });

  test('in a layer has no divergence when a sibling call had got further in the recording', async () => {
    const waits = moment();
    const pausing = (...ms: readonly number[]): ExtensionRegister =>
      layerOf('toolCall', async (ctx) => {
        await Bun.sleep(ms[Number(ctx.args['n']) - 1] ?? 0);
        ctx.args = { ...ctx.args, paused: true };
        return ctx.next();
      });
    const replay = await cancel('both', { pause: pausing(60_000, 0) }, waits);
    expect(same(await replay({ pause: pausing(0, 40) }))).toMatchObject({ others: 0, halted: { how: 'cancelled' } });
  });

  test('next to a call that had ended is compared with that call', async () => {
    const waits = moment();
    const hang = () => Bun.sleep(30).then(waits.hang);
    const replay = await cancel('both', { guard: guarding(3) }, { promise: waits.promise, hang });
    expect(same(await replay({ guard: guarding(3) }))).toMatchObject({ others: 0, layers: 2, served: { tool: 1 } });
    expect((await replay({ guard: guarding(4) })).first).toMatchObject({ extension: 'guard' });
  });

  test('while it waited to retry a step, or before it had begun, is replayed up to there', async () => {
    const policy = { policy: { retryBaseMs: 60_000, retryMaxMs: 60_000 } };
    const controller = new AbortController();
    const watching: ExtensionRegister = ({ events }) =>
      void events.on('step.failed', () => void setTimeout(() => controller.abort(cancelled()), 10));
    const plan = planOf({ watching, say: saying('be kind') }, undefined, policy);
    const busy = await recordRuns('busy', [{ plan, signal: controller.signal }]);
    const replayed = await replayTurn(
      planOf({ watching, say: saying('be kind') }, undefined, policy),
      busy.starts[0] as ReplaySource,
    );
    expect(same(replayed)).toMatchObject({ others: 0, steps: 1, layers: 1, halted: { how: 'cancelled', place: [] } });

    const early = await recordRuns('look', [{ plan: planOf(layers), signal: AbortSignal.abort(cancelled()) }]);
    const nothingRan = await replayTurn(planOf(layers), early.starts[0] as ReplaySource);
    expect(same(nothingRan)).toMatchObject({ others: 0, steps: 0, layers: 0, halted: { how: 'cancelled', place: [] } });
  });

  test('because it was out of time is replayed up to there; its current time limit does not matter', async () => {
    const policy = { policy: { turnTimeoutMs: 60 } };
    const { result, starts } = await recordRuns('look', [{ plan: planOf(layers, forEver, policy) }]);
    expect(result.error?.code).toBe('E_TURN_TIMEOUT');
    const reasons: unknown[] = [];
    const slow: ExtensionRegister = layerOf('turn', async (ctx) => {
      await Bun.sleep(100);
      return ctx.next().finally(() => reasons.push((ctx.signal.reason as GoondanError).code));
    });
    const outcome = await replayTurn(planOf({ slow, ...layers }, forEver, policy), starts[0] as ReplaySource);
    expect(same(outcome)).toMatchObject({
      others: 0,
      halted: { how: 'cancelled', error: expect.stringMatching(/^E_TURN_TIMEOUT/) },
    });
    expect(reasons).toEqual(['E_TURN_TIMEOUT']);
  });
});

describe('a turn that continued in another process', () => {
  const first = (outcomes: readonly ReplayOutcome[]) => outcomes.map((outcome) => outcome.first?.extension);

  async function replayAll(starts: readonly (ReplaySource | undefined)[], now: Layers): Promise<ReplayOutcome[]> {
    const outcomes: ReplayOutcome[] = [];
    for (const start of starts) outcomes.push(await replayTurn(planOf(now), start as ReplaySource));
    return outcomes;
  }

  test('after a crash between two steps: each run is replayed alone, from the step it began with', async () => {
    const stuck = moment();
    const then = { ...layers };
    const { result, runs, starts } = await recordRuns('look', [
      { plan: planOf(then, stuck.hang), interrupted: { when: onDisk(stuck), how: 'crashed' } },
      { plan: planOf(then, () => 'waited') },
    ]);
    expect(result.finishReason).toBe('text_response');
    expect([...runs.earlier, runs.last].map(({ fromStep }) => fromStep)).toEqual([0, 1]);
    const [crashed, finished] = await replayAll(starts, then);
    expect(same(crashed)).toMatchObject({ others: 0, served: { model: 2, tool: 1 }, halted: { how: 'crashed' } });
    // The tool call had started, but its end is unknown, so the model gets an error result.
    expect(finished).toEqual({ others: 0, layers: 9, steps: 2, served: { ...nothing, model: 1, tool: 1 } });

    expect(first(await replayAll(starts, { ...then, guard: guarding(7) }))).toEqual(['guard', 'guard']);
    expect(first(await replayAll(starts, { ...then, say: saying('be unkind') }))).toEqual(['say', 'say']);
    // The message that a turn layer emitted before `next()` is already in the log, so it is muted in the resumed run.
    const remember = remembering('who are you');
    expect(first(await replayAll(starts, { ...then, remember }))).toEqual(['remember', undefined]);
  });

  test('after a crash between two tries of a step: events that survived the first try are replayed', async () => {
    const failing = (text: string, onFailed?: () => void): Layers => ({
      noter: ({ pipeline, events }) => {
        if (onFailed !== undefined) events.on('step.failed', onFailed);
        pipeline.register('step', (ctx) =>
          ctx.next().catch((error: unknown) => {
            ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(`${text} ${crypto.randomUUID()}`) });
            throw error;
          }),
        );
      },
      counter: ({ pipeline, state }) =>
        pipeline.register('turn', async (ctx) => {
          const result = await ctx.next();
          const notes = ctx.conversationState.nextMessages.map((message) => textOf(message));
          await state.set({ notes: notes.filter((each) => each.startsWith(text)) });
          return result;
        }),
    });
    const failed = moment();
    const slow = { policy: { retryBaseMs: 60_000, retryMaxMs: 60_000 } };
    const soon = { policy: { retryBaseMs: 1 } };
    const { result, starts } = await recordRuns('fail once', [
      {
        plan: planOf(failing('failed', failed.resolve), undefined, slow),
        interrupted: { when: onDisk(failed), how: 'crashed' },
      },
      { plan: planOf(failing('failed'), undefined, soon) },
    ]);
    expect(result.finishReason).toBe('text_response');
    // One note of each try: the scripted model of the second process counts its failures from the start.
    expect(starts[1]?.stateAfter['counter']).toEqual({
      notes: [expect.stringContaining('failed'), expect.stringContaining('failed')],
    });
    const [crashed, finished] = await replayAll(starts, failing('failed'));
    expect(same(crashed)).toMatchObject({ others: 0, steps: 1, halted: { how: 'crashed' } });
    expect(same(finished)).toMatchObject({ others: 0, steps: 2 });
    expect(first(await replayAll(starts, failing('broken')))).toEqual(['noter', 'noter']);
  });

  test('after a crash has the changes that a slow layer made before next(), because they were written first', async () => {
    const slowly = (text: string): ExtensionRegister =>
      layerOf('turn', async (ctx) => {
        await Bun.sleep(50);
        ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(text) });
        return ctx.next();
      });
    const stuck = moment();
    const { starts } = await recordRuns('look', [
      { plan: planOf({ slow: slowly('one') }, stuck.hang), interrupted: { when: onDisk(stuck), how: 'crashed' } },
      { plan: planOf({ slow: slowly('one') }, () => 'waited') },
    ]);
    expect(first(await replayAll(starts, { slow: slowly('one') }))).toEqual([undefined, undefined]);
    expect(first(await replayAll(starts, { slow: slowly('two') }))).toEqual(['slow', undefined]);
  });

  test('after it was left is replayed also when its last line was written long before', async () => {
    const asked = moment();
    const slowly = (days: number): ExtensionRegister =>
      layerOf('toolCall', async (ctx) => {
        await Bun.sleep(50);
        ctx.args = { ...ctx.args, days };
        return ctx.next();
      });
    const asking: ExtensionRegister = layerOf('toolCall', async (ctx) => {
      await ctx.approval.ask({ reason: 'May it?' });
      return ctx.next();
    });
    const then = { slow: slowly(3), ask: asking };
    const ports = { approver: { ask: asked.hang, taken: () => undefined } };
    const again = { approver: fakeApprover(() => ({ decision: 'approved' })) };
    const { starts } = await recordRuns('look', [
      { plan: planOf(then), ports, interrupted: { when: onDisk(asked), how: 'left' } },
      { plan: planOf(then, () => 'waited'), ports: again },
    ]);
    expect(first(await replayAll(starts, then))).toEqual([undefined, undefined]);
    expect(first(await replayAll(starts.slice(0, 1), { ...then, slow: slowly(7) }))).toEqual(['slow']);
  });

  test('after it was left while it waited for a person: each run is replayed alone', async () => {
    const asking: ExtensionRegister = layerOf('toolCall', async (ctx) => {
      await ctx.approval.ask({ reason: 'May it?' });
      return ctx.next();
    });
    const asked = moment();
    const then = { ...layers, ask: asking };
    const nobody = { approver: { ask: asked.hang, taken: () => undefined } };
    const somebody = { approver: fakeApprover(() => ({ decision: 'approved' })) };
    const { starts, runs } = await recordRuns('look', [
      { plan: planOf(then), ports: nobody, interrupted: { when: asked.promise, how: 'left' } },
      { plan: planOf(then, () => 'waited'), ports: somebody },
    ]);
    expect([...runs.earlier, runs.last].map(({ fromStep }) => fromStep)).toEqual([0, 0]);
    const [left, finished] = await replayAll(starts, then);
    const place = ['step 0', 'toolCall place__look'];
    expect(left).toEqual({
      others: 0,
      layers: 7,
      steps: 1,
      served: { ...nothing, model: 1 },
      halted: { how: 'left', place, layer: { extension: 'ask', name: 'toolCall' } },
    });
    // The reply was in the log, so no model was called for it again.
    expect(same(finished)).toMatchObject({
      others: 0,
      steps: 3,
      served: { ...nothing, model: 2, tool: 2, approval: 2 },
    });

    expect(first(await replayAll(starts, { ...then, guard: guarding(7) }))).toEqual(['guard', 'guard']);
    const remember = remembering('who are you');
    expect(first(await replayAll(starts, { ...then, remember }))).toEqual(['remember', undefined]);
    const { ask: _, ...free } = then;
    expect(first(await replayAll(starts, free))).toEqual(['ask', 'ask']);
  });

  test('and was cancelled there: the second run is replayed up to the cancel', async () => {
    const [stuck, again] = [moment(), moment()];
    const controller = new AbortController();
    void again.promise.then(() => controller.abort(cancelled()));
    const idempotent = (plan: AgentPlan): AgentPlan => ({
      ...plan,
      tools: (plan.tools ?? []).map((tool) => ({
        ...tool,
        exports: tool.exports.map((each) => ({ ...each, idempotent: true })),
      })),
    });
    const { result, starts } = await recordRuns('look', [
      { plan: idempotent(planOf(layers, stuck.hang)), interrupted: { when: onDisk(stuck), how: 'crashed' } },
      { plan: idempotent(planOf(layers, again.hang)), signal: controller.signal },
    ]);
    expect(result.error?.code).toBe('E_CANCELLED');
    const outcome = await replayTurn(idempotent(planOf(layers)), starts[1] as ReplaySource);
    expect(same(outcome)).toMatchObject({
      others: 0,
      served: nothing,
      halted: { place: ['step 1', 'toolCall place__wait'] },
    });
  });
});

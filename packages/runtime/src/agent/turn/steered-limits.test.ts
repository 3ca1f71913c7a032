/** Tests turns that take inputs and have limits: schemas, budgets, and limits that change while they run. */
import { expect, test } from 'bun:test';
import type { Budget, JsonSchema, JsonValue, ModelReply, OutputDemand } from '@goondan/types';
import type { TurnPolicy } from '../../config/turn-policy.ts';
import { NO_USAGE } from '../../ports/token-usage.ts';
import { appendRest } from '../../testing/append-rest.ts';
import { steeringInput } from '../../testing/input-event.ts';
import { scriptedAgent, type ScriptedAgent } from '../../testing/index.ts';
import { oneLayer } from '../../testing/one-layer.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { Model } from '../model/model-port.ts';
import { WaitingInputs } from '../turn-state/waiting-inputs.ts';

const schema: JsonSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const output: OutputDemand = { schema, retries: 1 };
const [right, wrong] = [{ city: 'Seoul' }, { city: 1 }];

/** A model that answers with these values in order. `before` runs before the reply with this number. */
function model(answers: readonly JsonValue[], before: (call: number) => void = () => undefined): Model {
  let calls = 0;
  return {
    takesSchema: () => true,
    async generate(): Promise<ModelReply> {
      before(calls);
      const text = JSON.stringify(answers[calls++] ?? null);
      return { content: [{ type: 'text', text }], finishReason: 'stop', usage: NO_USAGE };
    },
  };
}

const countTaken = async (agent: ScriptedAgent) =>
  (await agent.messages()).filter(({ id }) => id === 'turn-n.input').length;

test('Y-08 Y-01 an input that follows an answer which fits has all retries', async () => {
  const waiting = new WaitingInputs();
  const before = (call: number) => void (call === 1 && waiting.add(steeringInput('n', 2)));
  const agent = await scriptedAgent({ model: model([wrong, right, wrong, right], before), output });
  const { result, stepCount } = await agent.say('go', { waiting, seq: 1 });
  expect(result).toMatchObject({ finishReason: 'text_response', output: right });
  expect([stepCount, waiting.taken]).toEqual([4, ['n']]);
});

test('Y-08 Y-01 a resumed turn counts the wrong answers since the last one that fits', async () => {
  const inner = memoryStore();
  let steps = 0;
  const dying: ConversationStore = {
    ...inner,
    async append(at, epoch, index, records) {
      const last = records.findIndex(({ type }) => type === 'step' && ++steps === 3);
      await inner.append(at, epoch, index, last === -1 ? records : records.slice(0, last + 1));
      if (last !== -1) throw new Error('the process is gone');
    },
  };
  const waiting = new WaitingInputs();
  const before = (call: number) => void (call === 1 && waiting.add(steeringInput('n', 2)));
  const first = await scriptedAgent({ model: model([wrong, right, wrong], before), output, store: appendRest(dying) });
  await first.say('go', { waiting, seq: 1 }).catch(() => undefined);
  const again = await scriptedAgent({ model: model([right]), output, store: inner });
  const { result } = await again.say('go', { waiting: new WaitingInputs(), seq: 1 });
  expect(result).toMatchObject({ finishReason: 'text_response', output: right });
});

test('Y-08 Y-04 a turn whose budget is used up after it took an input keeps the input, and ends it with its error', async () => {
  const budget: Budget = { name: 'calls', measure: 'calls', limit: 2, scope: 'swarm' };
  const guard = oneLayer(
    'guard',
    'model',
    async (ctx) => {
      const { ok } = await ctx.budgets.reserve();
      if (!ok) throw new Error('The budget is used up.');
      return ctx.next();
    },
    { budgets: [budget] },
  );
  const waiting = new WaitingInputs();
  const before = (call: number) => void (call === 0 && waiting.add(steeringInput('n', 2)));
  const policy = { maxStepRetries: 0 };
  const agent = await scriptedAgent({
    model: model([right, wrong, right], before),
    output,
    extensions: [guard],
    policy,
  });
  const { result } = await agent.say('go', { waiting, seq: 1 });
  expect(result).toMatchObject({ finishReason: 'error', error: { message: 'The budget is used up.' } });
  expect([waiting.taken, await countTaken(agent)]).toEqual([['n'], 1]);
  // Neither the next turn nor a second delivery takes it again.
  const later = new WaitingInputs();
  later.add(steeringInput('n', 2));
  const next = await agent.say('more', { waiting: later, seq: 3 });
  expect(next.result.error?.message).toBe('The budget is used up.');
  expect([later.taken, await countTaken(agent)]).toEqual([[], 1]);
  expect((await agent.say('text of n', { event: { id: 'n' } })).result).toEqual(result);
});

/** Runs a turn whose plan gets this policy during its only model call, while an input comes for it. */
async function sayWhileChanged(changed: Partial<TurnPolicy>) {
  const waiting = new WaitingInputs();
  const before = async () => {
    const { openModel, modelRef, policy: old } = agent.agent.parts.plan;
    const wanted = {
      agentName: 'tested',
      modelRef,
      models: openModel.entries,
      extensions: [slow],
      policy: { ...old, ...changed },
    };
    const change = await agent.agent.prepare(wanted);
    void change.swap();
    waiting.add(steeringInput('n', 2));
  };
  const slow = oneLayer('slow', 'turn', async (ctx) => {
    const ended = await ctx.next();
    await Bun.sleep(10);
    return ended;
  });
  const agent: ScriptedAgent = await scriptedAgent({
    extensions: [slow],
    model: { generate: (request) => before().then(() => model([right]).generate(request)) },
    policy: { maxStepsPerTurn: 5 },
  });
  const { result } = await agent.say('go', { waiting, seq: 1 });
  return { result, taken: waiting.taken };
}

test('Y-08 an input is not taken if a change of the plan leaves no step for it', async () => {
  const { result, taken } = await sayWhileChanged({ maxStepsPerTurn: 1 });
  expect([result.finishReason, taken]).toEqual(['text_response', []]);
});

test('Y-08 a change of the plan does not take place in a turn that has its answer and takes no input', async () => {
  const { result, taken } = await sayWhileChanged({ maxStepsPerTurn: 1, turnTimeoutMs: 1 });
  expect([result.finishReason, taken]).toEqual(['text_response', []]);
});

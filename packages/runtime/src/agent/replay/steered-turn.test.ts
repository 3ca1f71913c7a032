import { expect, test } from 'bun:test';
import { createSystemMessage, type ExtensionRegister } from '@goondan/types';
import { extension } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';
import { steeringInput } from '../../testing/input-event.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { WaitingInputs } from '../turn-state/waiting-inputs.ts';
import { replayTurn } from './replay-turn.ts';

const input = steeringInput('n', 2);

/** A layer that tells the model how many messages there are. */
const counting: ExtensionRegister = layerOf('step', (ctx) => {
  const text = `${ctx.conversationState.nextMessages.length} messages`;
  ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(text, {}, { id: `count-${ctx.stepIndex}` }) });
  return ctx.next();
});

function planOf(look: () => void): AgentPlan {
  const script = [{ when: 'weather', call: { tool: 'weather__get' } }, { say: 'You said: {{input}}' }];
  return {
    agentName: 'helper',
    models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
    tools: [
      {
        name: 'weather',
        exports: [{ name: 'get', description: 'The weather.', effects: 'none' }],
        handlers: { get: async () => (look(), { degrees: 20 }) },
      },
    ],
    extensions: [extension('counting', counting)],
  };
}

test('Y-08 a replay gives a recorded input to the same step, and diverges without it', async () => {
  const waiting = new WaitingInputs();
  const plan = planOf(() => waiting.add(input));
  const { start, result } = await recordInMemory(plan, ['weather'], {}, { waiting });
  expect(waiting.taken).toEqual(['n']);
  expect(result.responseMessage?.data.content).toEqual([{ type: 'text', text: 'You said: text of n' }]);
  const event = { ...input.event, createdAt: input.event.createdAt.toISOString() };
  const now = planOf(() => undefined);
  const whole = await replayTurn(now, { ...start, taken: [{ seq: 2, event, beforeStep: 1 }] });
  expect([whole.first, whole.steps, whole.layers]).toEqual([undefined, 2, 2]);
  const without = await replayTurn(now, start);
  expect(without.first).toMatchObject({ extension: 'counting', what: 'message' });
  const early = await replayTurn(now, { ...start, taken: [{ seq: 2, event, beforeStep: 0 }] });
  expect(early.first).toMatchObject({ place: ['step 0'] });
});

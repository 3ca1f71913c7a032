import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createSystemMessage, type ExtensionApi, type ExtensionModule } from '@goondan/types';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import type { AgentPlan } from '../agent-plan.ts';
import { watchDraws } from '../draws/watch-draws.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { replayTurn } from './replay-turn.ts';

let unwatch: () => void;
beforeAll(() => {
  unwatch = watchDraws();
});
afterAll(() => unwatch());

type Register = ExtensionModule['register'];

function extension(name: string, register: Register): ExtensionDeclaration {
  const resource = { apiVersion: 'goondan.ai/v1', kind: 'Extension', metadata: { name }, spec: { entry: './x.ts' } };
  return { resource: resource as ExtensionDeclaration['resource'], root: '/', module: { register } };
}

const script = [
  { when: 'weather', call: { tool: 'weather__get', args: { city: 'Bonn' } } },
  { afterTool: 'weather__get', say: 'It is {{result.degrees}} degrees.' },
  { say: 'You said: {{input}}' },
];

let calls = 0;
const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather.', parameters: { type: 'object' }, effects: 'none' }],
  handlers: {
    get: () => {
      calls += 1;
      return { degrees: 20 };
    },
  },
};

function planOf(extensions: readonly ExtensionDeclaration[], more: Partial<AgentPlan> = {}): AgentPlan {
  return {
    agentName: 'helper',
    systemPrompt: 'Be brief.',
    models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
    tools: [weather],
    extensions,
    ...more,
  };
}

/** Draws of every kind, in messages. */
function drawing(api: ExtensionApi): void {
  const loadedAt = Date.now();
  api.pipeline.register('step', async (ctx) => {
    const bytes = crypto.getRandomValues(new Uint8Array(4)).toHex();
    await Promise.resolve();
    const said = [new Date().toISOString(), Date.now() - loadedAt, Math.random(), crypto.randomUUID(), bytes];
    ctx.emitMessageEvent({
      type: 'append',
      message: createSystemMessage(JSON.stringify([...said, performance.now()])),
    });
    return ctx.next();
  });
}

/** Changes whatever can be changed. */
function changing(api: ExtensionApi): void {
  api.pipeline.register('turn', async (ctx) => {
    ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('and politely') });
    ctx.metadata['turn'] = 1;
    const result = await ctx.next();
    await api.state.set({ turns: 1 });
    return { ...result, finishReason: 'text_response' };
  });
  api.pipeline.register('step', async (ctx) => {
    ctx.toolCatalog = ctx.toolCatalog.map((tool) => ({ ...tool, description: `${tool.description} Really.` }));
    return ctx.next();
  });
  api.pipeline.register('toolCall', async (ctx) => {
    ctx.args = { ...ctx.args, unit: 'C' };
    const result = await ctx.next();
    return { ...result, output: { degrees: 21 } };
  });
  api.pipeline.register('model', async (ctx) => {
    ctx.messages = [...ctx.messages, { role: 'system', content: 'in short' }];
    return ctx.next();
  });
}

describe('a turn that is run again', () => {
  test('does what it did, and reaches nobody', async () => {
    const plan = planOf([extension('draw', drawing), extension('change', changing)]);
    const { start, result } = await recordInMemory(plan, ['hello', 'weather']);
    expect(result).toMatchObject({ finishReason: 'text_response' });
    calls = 0;
    const outcome = await replayTurn(plan, start);
    expect(outcome).toEqual({
      others: 0,
      layers: 8,
      steps: 2,
      served: { model: 2, tool: 1, agent: 0, approval: 0 },
    });
    expect(calls).toBe(0);
  });

  test('names the first layer that does something else, and what', async () => {
    const { start } = await recordInMemory(planOf([extension('draw', drawing), extension('change', changing)]), [
      'weather',
    ]);
    const other: Register = (api) =>
      api.pipeline.register('toolCall', async (ctx) => {
        ctx.args = { ...ctx.args, unit: 'F' };
        return ctx.next();
      });
    const outcome = await replayTurn(planOf([extension('draw', drawing), extension('change', other)]), start);
    expect(outcome.first).toMatchObject({ extension: 'change', layer: 'turn', what: 'gone' });
  });
});

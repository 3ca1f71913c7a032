/** Tests that a turn which an earlier version recorded in format 1 can be read and replayed. */
import { expect, test } from 'bun:test';
import { createSystemMessage, type ExtensionApi } from '@goondan/types';
import { extension } from '../../testing/index.ts';
import { assembleRecording } from '../../trace/assemble-recording.ts';
import { assembleTurn } from '../../trace/assemble-turn.ts';
import { decodeTraceLines } from '../../trace/decode-trace-lines.ts';
import type { ReplaySource } from '../../trace/replay.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { watchDraws } from '../draws/watch-draws.ts';
import { replayTurn } from './replay-turn.ts';
import around from './fixtures/format-1.json';

const lines = decodeTraceLines(await Bun.file(new URL('fixtures/format-1.jsonl', import.meta.url)).text());

/** The plan of an agent. For the input "weather" the agent calls a tool in its first step and answers in the second. */
const plan: AgentPlan = {
  agentName: 'helper',
  systemPrompt: 'Be brief.',
  models: {
    'Model/m': {
      provider: 'scripted',
      model: 'm',
      options: {
        script: [
          { when: 'weather', call: { tool: 'weather__get', args: { city: 'Bonn' } } },
          { afterTool: 'weather__get', say: 'It is {{result.degrees}} degrees.' },
          { say: 'You said: {{input}}' },
        ],
      },
    },
  },
  tools: [
    {
      name: 'weather',
      exports: [{ name: 'get', description: 'The weather.', parameters: { type: 'object' }, effects: 'none' }],
      handlers: { get: () => ({ degrees: 20 }) },
    },
  ],
  extensions: [extension('draw', drawing), extension('change', changing)],
};

function drawing(api: ExtensionApi): void {
  const loadedAt = Date.now();
  api.pipeline.register('step', async (ctx) => {
    const bytes = crypto.getRandomValues(new Uint8Array(4)).toHex();
    await Promise.resolve();
    const said = [new Date().toISOString(), Date.now() - loadedAt, Math.random(), crypto.randomUUID(), bytes];
    ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(JSON.stringify(said)) });
    return ctx.next();
  });
}

function changing(api: ExtensionApi): void {
  api.pipeline.register('turn', async (ctx) => {
    ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('and politely') });
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

test('a recording of format 1 is read completely', () => {
  expect(lines[0]).toMatchObject({ type: 'start', format: 1 });
  const turn = assembleTurn(lines);
  expect(turn).toMatchObject({
    turnId: 'turn-event-0',
    input: 'weather',
    finishReason: 'text_response',
    stepCount: 2,
    missing: { chains: 0, lines: 0, isCut: false },
    chain: {
      kind: 'turn',
      label: 'helper',
      layers: [{ extension: 'change', outcome: 'passed', changed: [], resultChanged: [], emittedMore: 0 }],
      inside: [
        {
          kind: 'step',
          inside: [
            { kind: 'model', outcome: 'tool-calls', tokens: { input: 35, output: 7 } },
            { kind: 'toolCall', label: 'weather__get', outcome: 'ok', input: '{"city":"Bonn"}', called: [] },
          ],
        },
        { kind: 'step', inside: [{ kind: 'model', outcome: 'stop', inside: [], called: [] }] },
      ],
    },
  });
  expect(turn?.chain.inside[0]?.inside[1]?.layers[0]).toMatchObject({
    changed: [{ path: 'args.unit', after: 'C' }],
    resultChanged: [{ path: 'output.degrees', before: '20', after: '21' }],
  });
});

test('a recording of format 1 is replayed without a divergence', async () => {
  const recording = assembleRecording(lines);
  if ('problem' in recording) throw new Error(recording.problem);
  const unwatch = watchDraws();
  // The cast is safe: the recording was read from the file in the shape that this version uses.
  const start = { ...around, recording: recording.last.recording } as unknown as ReplaySource;
  const outcome = await replayTurn(plan, start).finally(unwatch);
  const served = { model: 2, tool: 1, agent: 0, approval: 0 };
  expect(outcome).toEqual({ others: 0, layers: 8, steps: 2, served });
});

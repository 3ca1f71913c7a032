// Tests truncated replies: how the turn reports them, and what happens to the tool calls in them.
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AssistantPart, createSystemMessage, type ModelReply, textOf, TRUNCATED } from '@goondan/types';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { systemClock } from '../../ports/clock.ts';
import { inProcessEngine, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { afterNext, beforeNext, oneLayer } from '../../testing/one-layer.ts';
import { recordRuns } from '../../testing/record-runs.ts';
import type { Model } from '../model/model-port.ts';
import { replayTurn } from '../replay/replay-turn.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { interruptedStore, recordsOf, recordsUpTo } from '../../testing/turn-records.ts';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const text = (words: string): AssistantPart => ({ type: 'text', text: words });
const call = (id: string, toolName: string): AssistantPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName,
  input: {},
});
const cut = (...content: AssistantPart[]): ModelReply => ({ content, finishReason: 'length', usage });
const whole = (...content: AssistantPart[]): ModelReply => ({ content, finishReason: 'stop', usage });

/** Creates a model that returns these replies in order, and repeats the last one. */
function modelOf(...replies: [ModelReply, ...ModelReply[]]): Model {
  const left = [...replies];
  return { generate: async () => structuredClone((left.length > 1 ? left.shift() : left[0]) ?? replies[0]) };
}

function counter() {
  const ran: string[] = [];
  const tool: ToolDeclaration = {
    name: 'files',
    exports: [
      { name: 'list', description: 'Lists files.' },
      { name: 'clear', description: 'Removes files; all of them without a name.' },
    ],
    handlers: { list: () => void ran.push('list'), clear: () => void ran.push('clear') },
  };
  return { ran, tool };
}

describe('a turn whose last reply was truncated', () => {
  test('Y-09 is truncated: its result, its step, its message, the log and the event say so', async () => {
    const seen: unknown[] = [];
    const watcher = afterNext('watcher', 'step', (result) => seen.push(result.metadata));
    const agent = await scriptedAgent({ model: modelOf(cut(text('Once upon'))), extensions: [watcher] });
    const { result } = await agent.say('Tell me a story');
    expect(result).toMatchObject({ finishReason: 'text_response', truncated: true });
    expect(seen).toEqual([{ finishReason: 'length' }]);
    expect((await agent.messages()).at(-1)?.metadata).toEqual({ [TRUNCATED]: true });
    expect(agent.logs.filter(({ event }) => event === 'reply.truncated')).toMatchObject([
      {
        level: 'warn',
        message: 'The reply of Model/scripted in step 0 reached its token limit (params.maxTokens) and is incomplete.',
      },
    ]);
    expect(agent.told.at(-1)).toMatchObject({ name: 'turn.completed', payload: { truncated: true } });
  });

  test('Y-09 a complete answer has no mark', async () => {
    const agent = await scriptedAgent({ model: modelOf(whole(text('The end.'))) });
    const { result } = await agent.say('Tell me a story');
    expect(result).not.toHaveProperty('truncated');
    expect((await agent.messages()).at(-1)?.metadata).toEqual({});
    expect(agent.told.at(-1)?.payload).not.toHaveProperty('truncated');
    expect(agent.logs).toEqual([]);
  });

  test('Y-09 is truncated also when the reply was empty, and when its steps are used up', async () => {
    const silent = await scriptedAgent({ model: modelOf(cut({ type: 'reasoning', text: 'Hm' })) });
    expect((await silent.say('go')).result.truncated).toBe(true);
    const { tool } = counter();
    const busy = { model: modelOf(cut(call('c', 'files__list'))), tools: [tool], policy: { maxStepsPerTurn: 1 } };
    const { result } = await (await scriptedAgent(busy)).say('go');
    expect(result).toMatchObject({ finishReason: 'max_steps', truncated: true });
  });

  test('Y-09 stays truncated when a layer returns other metadata, unless it sets another finishReason', async () => {
    const resultWith = async (metadata: Record<string, string>) => {
      const marks = oneLayer('marks', 'step', async (ctx) => ({ ...(await ctx.next()), metadata }));
      return (await (await scriptedAgent({ model: modelOf(cut(text('Once'))), extensions: [marks] })).say('go')).result;
    };
    expect(await resultWith({ marked: 'yes' })).toMatchObject({ truncated: true });
    expect(await resultWith({ finishReason: 'stop' })).not.toHaveProperty('truncated');
  });

  test('may be marked by a layer, but only with a boolean', async () => {
    const resultWith = async (truncated: unknown) => {
      const layer = oneLayer('layer', 'turn', async (ctx) => ({
        ...(await ctx.next()),
        truncated: truncated as boolean,
      }));
      return (await (await scriptedAgent({ extensions: [layer] })).say('go')).result;
    };
    expect(await resultWith(true)).toMatchObject({ truncated: true });
    expect((await resultWith('yes')).error?.message).toContain('truncated is not a boolean');
  });
});

describe('a tool call in a truncated reply', () => {
  test('does not run when it is the last part: the model gets an error result, no layer runs, and the turn continues', async () => {
    const { ran, tool } = counter();
    const asked: string[] = [];
    const guard = beforeNext('guard', 'toolCall', (ctx) => {
      asked.push(ctx.toolName);
    });
    const replies = [cut(call('c1', 'files__list'), call('c2', 'files__clear')), whole(text('Done.'))] as const;
    const agent = await scriptedAgent({ model: modelOf(...replies), tools: [tool], extensions: [guard] });
    const { result, stepCount } = await agent.say('Clear a.txt');
    expect([ran, asked, stepCount]).toEqual([['list'], ['files__list'], 2]);
    expect(JSON.stringify(agent.requests[1]?.messages.at(-1))).toContain('E_REPLY_TRUNCATED');
    // The answer itself is complete.
    expect(result).not.toHaveProperty('truncated');
    expect(agent.logs.map(({ level, event }) => [level, event])).toEqual([
      ['info', 'tool.failed'],
      ['warn', 'reply.truncated'],
    ]);
    expect(agent.told).toContainEqual({
      name: 'tool.failed',
      payload: expect.objectContaining({
        toolName: 'files__clear',
        error: expect.objectContaining({ code: 'E_REPLY_TRUNCATED' }),
      }),
    });
  });

  test('runs when text follows it: it was complete', async () => {
    const { ran, tool } = counter();
    const replies = [cut(call('c1', 'files__clear'), text('And th')), whole(text('Done.'))] as const;
    await (await scriptedAgent({ model: modelOf(...replies), tools: [tool] })).say('go');
    expect(ran).toEqual(['clear']);
  });
});

describe('a truncated turn, later', () => {
  test('Y-09 the same event again returns the mark, from the disk', async () => {
    const stateRoot = mkdtempSync(join(tmpdir(), 'truncated-'));
    const options = { model: modelOf(cut(text('Once upon'))) };
    const ask = async () => {
      const store = await durableStore({ stateRoot, workspaceId: 'w' });
      const { result } = await (await scriptedAgent({ ...options, store })).say('go');
      await store.close();
      return result;
    };
    const first = await ask();
    expect(first.truncated).toBe(true);
    expect(await ask()).toEqual(first);
    rmSync(stateRoot, { recursive: true });
  });

  test('Y-09 a turn resumed after that step has the mark', async () => {
    const options = { model: modelOf(cut(text('Once upon'))) };
    const records = await recordsOf(options);
    const store = await interruptedStore(recordsUpTo(records, ({ type }) => type === 'step'));
    const resumed = await scriptedAgent({ model: modelOf(whole(text('Asked again.'))), store });
    const { result } = await resumed.say('go');
    expect([textOf(result.responseMessage), result.truncated]).toEqual(['Once upon', true]);
    expect(resumed.requests).toEqual([]);
  });

  test('Y-09 a replay behaves the same, and its trace has the mark', async () => {
    // A replay compares what layers do, and what this layer does depends on the mark.
    const telling = afterNext('telling', 'turn', ({ truncated }, ctx) => {
      const message = createSystemMessage(`truncated: ${truncated}`, {}, { id: 'told' });
      ctx.emitMessageEvent({ type: 'append', message });
    });
    const models = { 'Model/m': modelOf(cut(text('Once upon'))) };
    const plan = { agentName: 'tested', models, extensions: [telling] };
    const { starts, text: lines, result } = await recordRuns('go', [{ plan }]);
    const [start] = starts;
    if (start === undefined) throw new Error('It cannot be replayed.');
    expect((await replayTurn(plan, start)).first).toBeUndefined();
    expect(result.truncated).toBe(true);
    expect(lines).toContain('"truncated":true');
  });
});

describe('an agent whose response is truncated', () => {
  const asking: ScriptedAgentOptions = {
    agentTools: true,
    script: [
      { when: 'go', call: { tool: 'agents__request', args: { target: 'poet', input: 'A poem' } } },
      { afterTool: 'agents__request', say: 'It is truncated: {{result.truncated}}, {{result.response}}' },
    ],
  };
  const engineWithPoet = (truncated: boolean) => {
    const engine = inProcessEngine(systemClock);
    engine.add('poet', async () => {
      const poet = await scriptedAgent({ model: modelOf(truncated ? cut(text('A rose')) : whole(text('A rose'))) });
      return (await poet.say('A poem')).result;
    });
    return engine;
  };

  test('Y-09 is reported as truncated in the result of the call', async () => {
    const agent = await scriptedAgent({ ...asking, engine: engineWithPoet(true) });
    const { text: said, result } = await agent.say('go');
    expect(said).toBe('It is truncated: true, A rose');
    // The caller's own answer is complete.
    expect(result).not.toHaveProperty('truncated');
    const told = await scriptedAgent({ ...asking, engine: engineWithPoet(false) });
    expect(JSON.stringify((await told.say('go')) && told.requests[1]?.messages.at(-1))).not.toContain('truncated');
  });

  test('Y-09 is reported as truncated to a turn resumed after the call, from its record', async () => {
    const records = await recordsOf({ ...asking, engine: engineWithPoet(true) });
    const answered = recordsUpTo(records, (record) => record.type === 'effect' && record.kind === 'agent');
    const store = await interruptedStore(answered);
    const engine = inProcessEngine(systemClock);
    const resumed = await scriptedAgent({ ...asking, engine, store });
    expect((await resumed.say('go')).text).toBe('It is truncated: true, A rose');
    expect(engine.calls).toEqual([]);
  });
});

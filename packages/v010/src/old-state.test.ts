// `getState` and `setState` of old extensions.
import { describe, expect, test } from 'bun:test';
import { type ConversationStore, durableStore, memoryStore } from '@goondan/runtime/history';
import { type ScriptedAgent, scriptedAgent } from '@goondan/runtime/testing';
import type { JsonValue } from '@goondan/types';
import { OldState } from './old-state.ts';
import { oldBundle } from './testing/old-agent.ts';
import { mortalStore } from '../../runtime/src/testing/mortal-store.ts';
import { temporaryFolder } from '../../../test/temporary-folder.ts';

const stateRoot = temporaryFolder();

const counter = `
api.pipelines.mutate('turn.pre', (ctx) => {
  const turns = api.getState()?.turns ?? 0;
  api.setState({ turns: turns + 1 });
  note(JSON.stringify(api.getState()));
  return ctx;
});`;

describe('the state of an old extension', () => {
  test('L-04 survives a restart, one value for each extension', async () => {
    const notes: string[][] = [];
    for (let run = 0; run < 2; run += 1) {
      using bundle = oldBundle({ counter, other: counter.replace('+ 1', '+ 10') });
      const store = await durableStore({ stateRoot, workspaceId: 'restart' });
      const agent = await scriptedAgent({ extensions: bundle.extensions, store });
      for (const number of [0, 1]) await agent.say('hi', { event: { id: `${run}-${number}` } });
      expect(await agent.stateOf('counter')).toEqual({ turns: 2 * (run + 1) });
      await agent.close();
      await store.close();
      notes.push([...bundle.notes]);
    }
    expect(notes).toEqual([
      ['{"turns":1}', '{"turns":10}', '{"turns":2}', '{"turns":20}'],
      ['{"turns":3}', '{"turns":30}', '{"turns":4}', '{"turns":40}'],
    ]);
  });

  test('L-04 that register reads is there before the first turn', async () => {
    const code = `note('read ' + JSON.stringify(api.getState())); api.setState({ starts: (api.getState()?.starts ?? 0) + 1 });`;
    const notes: string[] = [];
    for (let run = 0; run < 3; run += 1) {
      using bundle = oldBundle({ starting: code });
      const store = await durableStore({ stateRoot, workspaceId: 'register' });
      const agent = await scriptedAgent({ extensions: bundle.extensions, store });
      if (run !== 1) await agent.say('hi', { event: { id: `${run}` } });
      await agent.close();
      await store.close();
      notes.push(...bundle.notes);
    }
    expect(notes.slice(1)).toEqual(['read {"starts":1}', 'read {"starts":2}']);
  });

  test('L-04 a read does not undo a change that was made after it began', async () => {
    const reads: ((value: JsonValue) => void)[] = [];
    const get = () => new Promise<JsonValue>((resolve) => void reads.push(resolve));
    const state = new OldState({ state: { get, set: async () => undefined }, logger: console }, 'old');
    const loaded = state.load();
    state.set({ count: 2 });
    reads[0]?.({ count: 0 });
    await loaded;
    expect(state.get()).toEqual({ count: 2 });
  });
});

describe('a resumed turn with an old extension', () => {
  const code = `
  api.pipelines.mutate('turn.pre', (ctx) => {
    api.setState({ count: (api.getState().count ?? 0) + 1 });
    return { ...ctx, turn: { ...ctx.turn, input: ctx.turn.input + '!' } };
  });
  api.pipelines.mutate('step.post', (ctx) => (api.setState({ count: api.getState().count + 10 }), ctx));
  api.pipelines.mutate('turn.post', (ctx) => {
    const message = { role: 'system', content: 'after ' + ctx.turn.toolResults.length + ' results' };
    return { ...ctx, messageEvents: [...ctx.messageEvents, { type: 'system_message', seq: 0, message }] };
  });`;
  const tools = ['x', 'y'].map((name) => ({
    name,
    exports: [{ name: 'run', description: 'Runs.' }],
    // The log is written while a tool waits, so that a crash can be between two steps.
    handlers: { run: () => Bun.sleep(1) },
  }));
  const script = [
    { when: 'go', call: { tool: 'x__run' } },
    { afterTool: 'x__run', call: { tool: 'y__run' } },
    { say: 'done' },
  ];

  /** Runs the turn in a store whose n-th append is the last thing that happens, and again after the crash. */
  async function crashAt(appends: number) {
    using bundle = oldBundle({ old: code });
    const store = memoryStore();
    const mortal = mortalStore(store, appends);
    const start = (place: ConversationStore) =>
      scriptedAgent({ store: place, extensions: bundle.extensions, tools, script });
    const say = async (agent: ScriptedAgent) => agent.say('go', { event: { id: 'same' } });
    await say(await start(mortal)).catch(() => undefined);
    const resumed = await start(store);
    expect((await say(resumed)).text).toBe('done');
    // A tool that the crash interrupted has an error as its result.
    const messages = (await resumed.messages()).map(({ data }) =>
      data.role === 'tool' ? data.role : `${data.role} ${JSON.stringify(data.content)}`,
    );
    return { isCrashed: mortal.isDead(), messages, state: await resumed.stateOf('old') };
  }

  test('L-04 has the messages and the state of an uninterrupted one, wherever the crash was', async () => {
    const whole = await crashAt(Infinity);
    expect(whole.state).toEqual({ count: 31 });
    expect(whole.messages.at(0)).toBe('user "go!"');
    expect(whole.messages.at(-1)).toBe('system "after 2 results"');
    let crashes = 0;
    for (;;) {
      const { isCrashed, messages, state } = await crashAt(crashes + 1);
      expect({ messages, state }).toEqual({ messages: whole.messages, state: whole.state });
      if (!isCrashed) break;
      crashes += 1;
    }
    expect(crashes).toBeGreaterThanOrEqual(3);
  });
});

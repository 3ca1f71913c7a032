import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { scriptedAgent } from '../../testing/index.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import type { Model } from '../model/model-port.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-durable-'));
afterAll(() => rmSync(stateRoot, { recursive: true }));

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather.' }],
  handlers: { get: () => ({ tempC: 20 }) },
};

/** A model that calls a tool in every step of a turn except the last one. */
function instantModel(steps: number): Model {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  let calls = 0;
  return {
    async generate() {
      calls++;
      if (calls % steps === 0) return { content: [{ type: 'text', text: 'Sunny.' }], finishReason: 'stop', usage };
      const call = { toolCallId: `call-${calls}`, toolName: 'weather__get', input: {} };
      return { content: [{ type: 'tool-call', ...call }], finishReason: 'tool-calls', usage };
    },
  };
}

/** Wraps the real disk and notes the sizes of the writes into logs. */
function notingFs() {
  const writes: number[] = [];
  const fs: Fs = {
    ...systemFs,
    async openRoom(path) {
      const file = await systemFs.openRoom(path);
      return {
        ...file,
        write: (at, bytes) => (writes.push(bytes.length), file.write(at, bytes)),
        writeThrough: (at, bytes) => (writes.push(bytes.length), file.writeThrough(at, bytes)),
      };
    },
  };
  return { fs, writes };
}

/** Counts the writes of the third turn and their bytes. */
async function writesOf(steps: number) {
  const { fs, writes } = notingFs();
  const store = await durableStore({ stateRoot, workspaceId: `w${steps}`, fs });
  const agent = await scriptedAgent({ store, model: instantModel(steps), tools: [weather] });
  await agent.say('How is it?');
  await agent.say('And now?');
  writes.length = 0;
  expect((await agent.say('And now?')).text).toBe('Sunny.');
  const made = [...writes];
  await agent.close();
  await store.close();
  return { count: made.length, bytes: made.reduce((sum, bytes) => sum + bytes, 0) };
}

test('a durable turn of one step writes its input and its commit, in less than 1.6 KB', async () => {
  const { count, bytes } = await writesOf(1);
  expect(count).toBe(2);
  expect(bytes).toBeLessThan(1_600);
});

test('a durable turn of ten steps writes its input, nine intents and its commit, in less than 13.5 KB', async () => {
  const { count, bytes } = await writesOf(10);
  expect(count).toBe(11);
  expect(bytes).toBeLessThan(13_500);
});

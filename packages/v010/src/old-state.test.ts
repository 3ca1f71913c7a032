// `getState` and `setState` of old extensions.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durableStore } from '@goondan/runtime/history';
import { scriptedAgent } from '@goondan/runtime/testing';
import { oldBundle } from './testing/old-agent.ts';

const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-v010-'));
afterAll(() => rmSync(stateRoot, { recursive: true, force: true }));

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
});

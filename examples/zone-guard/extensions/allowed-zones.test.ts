import { expect, test } from 'bun:test';
import { extensionFile, scriptedAgent } from '@goondan/runtime/testing';
import type { ToolHandler } from '@goondan/types';

test('a zone that is not allowed never reaches the clock', async () => {
  const asked: unknown[] = [];
  const now: ToolHandler = (_ctx, { zone }) => void asked.push(zone);
  const tested = await scriptedAgent({
    script: [
      { when: 'in (?<zone>\\S+)', call: { tool: 'clock__now', args: { zone: '{{zone}}' } } },
      { afterTool: 'clock__now', say: 'Done. {{result.error.message}}' },
    ],
    tools: [{ name: 'clock', exports: [{ name: 'now', description: 'The time.' }], handlers: { now } }],
    extensions: [extensionFile('allowed-zones', import.meta.dirname, './allowed-zones.ts', { zones: ['UTC'] })],
  });

  expect((await tested.say('What time is it in UTC')).text).toBe('Done. ');
  expect((await tested.say('What time is it in Europe/Paris')).text).toBe('Done. "Europe/Paris" is not one of UTC.');
  expect(asked).toEqual(['UTC']);
  await tested.close();
});

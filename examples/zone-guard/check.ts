import assert from 'node:assert/strict';
import { extensionFile, scriptedAgent } from '@goondan/runtime/testing';
import type { ToolHandler } from '@goondan/types';

const now: ToolHandler = (_ctx, { zone }) => ({ zone: zone ?? null });
const tested = await scriptedAgent({
  script: [
    { when: 'in (?<zone>[\\w/]+)', call: { tool: 'clock__now', args: { zone: '{{zone}}' } } },
    { afterTool: 'clock__now', say: '{{result.zone}}{{result.error.message}}' },
  ],
  tools: [{ name: 'clock', exports: [{ name: 'now', description: 'The time.' }], handlers: { now } }],
  extensions: [
    extensionFile('allowed-zones', import.meta.dirname, './extensions/allowed-zones.ts', { zones: ['Asia/Seoul'] }),
    extensionFile('nicknames', import.meta.dirname, './extensions/nicknames.ts', { names: { Seoul: 'Asia/Seoul' } }),
  ],
});

// `nicknames` is declared second, but is further out, because its priority is lower.
assert.deepEqual(tested.layers('toolCall'), ['nicknames/translate', 'allowed-zones/check-zone']);
assert.equal((await tested.say('What time is it in Seoul?')).text, 'Asia/Seoul');
assert.equal((await tested.say('What time is it in Busan?')).text, '"Busan" is not one of Asia/Seoul.');
await tested.close();

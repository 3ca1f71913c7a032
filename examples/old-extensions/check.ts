import assert from 'node:assert/strict';
import { extensionFile, scriptedAgent } from '@goondan/runtime/testing';
import type { ToolHandler } from '@goondan/types';

const nicknames = extensionFile('nicknames', import.meta.dirname, './extensions/nicknames.js');
nicknames.resource.spec.compat = 'v010';
const patience = extensionFile('patience', import.meta.dirname, './extensions/patience.js');

const now: ToolHandler = (_ctx, { zone }) => ({ zone: zone ?? null });
const tested = await scriptedAgent({
  script: [
    { when: 'time', fail: { message: 'The model is busy.', times: 2 } },
    { when: 'in (?<zone>[\\w/]+)', call: { tool: 'clock__now', args: { zone: '{{zone}}' } } },
    { afterTool: 'clock__now', say: '{{result.zone}}' },
  ],
  tools: [{ name: 'clock', exports: [{ name: 'now', description: 'The time.' }], handlers: { now } }],
  extensions: [nicknames, patience],
});

// `nicknames` changed the argument, and `patience` repeated the two calls that failed.
assert.equal((await tested.say('What time is it in Seoul?')).text, 'Asia/Seoul');
assert.equal(tested.requests.length, 4);
const logged = tested.logs.filter(({ extension }) => extension === 'patience').map(({ message }) => message);
assert.deepEqual(logged, ['step 2: 1 tool calls', 'step 3: 0 tool calls']);
assert.deepEqual(await tested.stateOf('nicknames'), { turns: 1 });
await tested.close();

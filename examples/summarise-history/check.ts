import assert from 'node:assert/strict';
import { textOf } from '@goondan/types';
import { extensionFile, scriptedAgent } from '@goondan/runtime/testing';

const tested = await scriptedAgent({
  script: [
    { when: '^Sum up', say: 'they like tea and sencha.' },
    { when: 'like (?<what>\\w+)', say: 'I will remember {{what}}.' },
    { say: 'Yes?' },
  ],
  extensions: [
    extensionFile('summarise-history', import.meta.dirname, './summarise-history.ts', {
      mostMessages: 4,
      keptQuestions: 2,
    }),
  ],
});

await tested.say('I like tea.');
await tested.say('I like sencha.');
assert.equal((await tested.messages()).length, 4);

// The fifth message is one too many: everything before the two newest questions becomes one sentence.
const third = await tested.say('I like biscuits.');
assert.deepEqual((await tested.messages()).map(textOf), [
  'Earlier: they like tea and sencha.',
  'I like sencha.',
  'I will remember sencha.',
  'I like biscuits.',
  'I will remember biscuits.',
]);

// The layer's model call got the old messages, and its reply was not streamed.
const [summary, answer] = tested.requests.slice(-2);
assert.deepEqual(
  summary?.messages.map(({ content }) => content),
  [
    'I like tea.',
    [{ type: 'text', text: 'I will remember tea.' }],
    'Sum up this conversation in one sentence, for yourself.',
  ],
);
assert.equal(answer?.messages[0]?.content, 'Earlier: they like tea and sencha.');
assert.equal(third.deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join(''), third.text);

// The trace of the turn shows the work of the layer.
assert.deepEqual(third.trace?.layers[0]?.emitted, ['replace turn-event-1.input', 'remove turn-event-1.step-0.reply']);
await tested.close();

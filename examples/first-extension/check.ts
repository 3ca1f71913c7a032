import assert from 'node:assert/strict';
import { extensionFile, scriptedAgent } from '@goondan/runtime/testing';

// A model that keeps calling a tool, until a call is refused.
const script = [
  { when: '.', call: { tool: 'dice__roll' } },
  { afterTool: 'dice__roll', call: { tool: 'dice__roll' } },
];
const dice = {
  name: 'dice',
  exports: [{ name: 'roll', description: 'Rolls a die.' }],
  handlers: { roll: () => 4 },
};

const tested = await scriptedAgent({
  script,
  tools: [dice],
  extensions: [extensionFile('tool-budget', import.meta.dirname, './tool-budget.ts', { most: 2 })],
  policy: { maxStepsPerTurn: 5 },
});

const { trace } = await tested.say('Roll the dice!');

// Five steps asked for a roll. Two calls got a result, and three were refused before they reached the tool.
const results = (await tested.messages()).flatMap(({ data }) => (data.role === 'tool' ? data.content : []));
assert.deepEqual(
  results.map(({ output }) => output.type),
  ['json', 'json', 'error-json', 'error-json', 'error-json'],
);
const calls = trace?.inside.flatMap((step) => step.inside).filter(({ kind }) => kind === 'toolCall') ?? [];
assert.deepEqual(
  calls.map(({ layers }) => layers[0]?.outcome),
  ['passed', 'passed', 'short_circuit', 'short_circuit', 'short_circuit'],
);

// The budget applies to one turn: the next turn has its own budget.
await tested.say('Again!');
const again = (await tested.messages()).flatMap(({ data }) => (data.role === 'tool' ? data.content : []));
assert.equal(again.filter(({ output }) => output.type === 'json').length, 4);

// The layer short-circuits on purpose and declares it, so there is no warning.
assert.deepEqual(
  tested.logs.filter(({ level }) => level === 'warn'),
  [],
);
await tested.close();

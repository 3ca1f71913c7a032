import assert from 'node:assert/strict';
import { extensionFile, scriptedAgent } from '@goondan/runtime/testing';

const backup = { provider: 'scripted', model: 'small', options: { script: [{ say: 'The backup says hello.' }] } };
const failOver = extensionFile('fail-over', import.meta.dirname, './fail-over.ts', { backup: 'Model/backup' });

// The agent's own model is down. Its error is not retryable.
const tested = await scriptedAgent({
  script: [{ fail: { message: 'no such model' } }],
  models: { 'Model/backup': backup },
  extensions: [failOver],
});

const { text, result, trace } = await tested.say('Hello?');
assert.equal(result.finishReason, 'text_response');
assert.equal(text, 'The backup says hello.');

// The turn had two steps: one that failed, and one in which the layer chose the other model.
const layers = trace?.inside.map((step) => step.inside[0]?.layers[0]);
assert.deepEqual(
  layers?.map((layer) => layer?.outcome),
  ['failed', 'passed'],
);
assert.deepEqual(layers?.[1]?.changed, [{ path: 'modelRef', before: 'Model/scripted', after: 'Model/backup' }]);

// The failure is visible from outside as well, as a retried step.
const failed = tested.told.flatMap((event) => (event.name === 'step.failed' ? [event.payload] : []));
assert.deepEqual(
  failed.map(({ willRetry, error }) => [willRetry, error.message]),
  [[true, 'Model/scripted failed, Model/backup takes over.']],
);
await tested.close();

// When both models are down, the turn fails with the error of the backup.
const hopeless = await scriptedAgent({
  script: [{ fail: { message: 'no such model' } }],
  models: { 'Model/backup': { ...backup, options: { script: [{ fail: { message: 'down, too' } }] } } },
  extensions: [failOver],
});
const { result: end } = await hopeless.say('Hello?');
assert.equal(end.error?.code, 'E_MODEL_FAILED');
assert.match(end.error.message, /down, too/);
await hopeless.close();

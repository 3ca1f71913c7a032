import { expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';
import { noSecrets } from '../log/mask-secrets.ts';
import type { WatchedLayer } from './layer-span.ts';
import { LayerParts } from './part-origins.ts';

function layerThatMade(after: readonly ModelMessage[], before: readonly ModelMessage[]) {
  const layer: WatchedLayer = { kind: 'model', extension: 'guard', name: 'model' };
  return { layer, changed: { before: { messages: before }, after: { messages: after } } };
}

test('a layer that copies the conversation costs one digest for each message and copy, not one for each pair', () => {
  const before = Array.from({ length: 100 }, (_, index): ModelMessage => ({ role: 'user', content: `${index}` }));
  const copies = structuredClone(before);
  let count = 0;
  const digestOf = (part: object) => {
    count += 1;
    // Safe: a message is JSON.
    return digestJson(part as Parameters<typeof digestJson>[0]);
  };
  const parts = new LayerParts([layerThatMade(copies, before)], digestOf, noSecrets);
  const origins = parts.originsOfMessages(copies, { idOf: (message) => `m${before.indexOf(message)}` });
  expect(origins.map(([, origin]) => origin)).toEqual(before.map((_, index) => ({ from: 'message', id: `m${index}` })));
  expect(count).toBeLessThan(5 * before.length);
});

import { expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';
import { noSecrets } from '../log/mask-secrets.ts';
import type { WatchedLayer } from './layer-span.ts';
import { LayerParts } from './part-origins.ts';

function layerThatMade(after: readonly ModelMessage[], before: readonly ModelMessage[], extension = 'guard') {
  const layer: WatchedLayer = { kind: 'model', extension, name: 'model' };
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

// Safe: a message is JSON.
const digestOf = (part: object) => digestJson(part as Parameters<typeof digestJson>[0]);

test('V-01 a message that two layers put there is that of the innermost one', () => {
  const old: ModelMessage = { role: 'user', content: 'old' };
  const made: ModelMessage = { role: 'user', content: 'made' };
  const layers = ['inner', 'outer'].map((name) => layerThatMade([made], [old], name));
  const [[, origin] = []] = new LayerParts(layers, digestOf, noSecrets).originsOfMessages([made], {});
  expect(origin).toMatchObject({ from: 'layer', layer: { extension: 'inner' } });
});

test('V-01 a copy of one of two equal messages has no certain origin', () => {
  const before: ModelMessage[] = [
    { role: 'user', content: 'twice' },
    { role: 'user', content: 'twice' },
    { role: 'user', content: 'once' },
  ];
  const parts = new LayerParts([layerThatMade(structuredClone(before), before)], digestOf, noSecrets);
  const idOf = (message: ModelMessage) => `m${before.indexOf(message)}`;
  const origins = parts.originsOfMessages(structuredClone(before), { idOf });
  expect(origins.map(([, origin]) => origin)).toEqual([undefined, undefined, { from: 'message', id: 'm2' }]);
});

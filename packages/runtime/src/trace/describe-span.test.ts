import { expect, test } from 'bun:test';
import { maskSecrets } from '../log/mask-secrets.ts';
import { describeOneLayer } from './describe-span.ts';
import { RecordedLayer } from './recorded-layer.ts';
import type { RunningSpan } from './running-span.ts';

test('a thrown object that is cut does not end with a part of a secret', () => {
  const key = 'sk-live-12345';
  // Safe: a layer that ended reads no field of its chain.
  const layer = new RecordedLayer({ extension: 'e', name: 'n', kind: 'turn' }, {} as RunningSpan, 0);
  layer.outcome = 'failed';
  layer.error = { said: 'x'.repeat(980) + key + 'y'.repeat(100) };
  expect(describeOneLayer(layer, maskSecrets([key])).error).toBe(`{"said":"${'x'.repeat(980)}***${'y'.repeat(8)}…`);
});

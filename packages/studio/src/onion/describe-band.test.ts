import { expect, test } from 'bun:test';
import type { LayerRecord } from '@goondan/cli/studio';
import type { Band, SpanBand } from './bands.ts';
import { describeBand, describeCacheLoss, describeTokens, hasFailed, marksOf } from './describe-band.ts';

const place = { id: '0', startMs: 0, totalMs: 321.4, passedOn: false, inside: [] };

test.each([
  [chain('turn', 'concierge'), 'turn concierge, 321 ms'],
  [chain('step', 'step 2'), 'step 2, 321 ms'],
  [chain('toolCall', 'picnic__book', { error: 'No.' }), 'tool picnic__book, failed, 321 ms'],
  [{ ...chain('step', 'step 2', { error: 'No.' }), passedOn: true }, 'step 2, passed it on, 321 ms'],
  [{ ...layer({ outcome: 'failed', error: 'No.' }), passedOn: true }, 'memory, passed it on, own 0.50 ms'],
  [{ ...chain('turn', 'concierge', { error: 'No.' }), passedOn: true }, 'turn concierge, failed, 321 ms'],
  [chain('turn', 'concierge', { error: 'E_CANCELLED: no', isCancelled: true }), 'turn concierge, cancelled, 321 ms'],
  [layer({ outcome: 'failed', error: 'E_CANCELLED: no', isCancelled: true }), 'memory, cancelled, own 0.50 ms'],
  [chain('model', 'Model/main', { error: 'Busy.', retryMs: 10 }), 'model Model/main, tried again, 321 ms'],
  [chain('model', 'Model/main', { outcome: 'length' }), 'model Model/main, truncated, 321 ms'],
  [chain('model', 'Model/main', { outcome: 'stop' }), 'model Model/main, 321 ms'],
  [{ ...chain('turn', 'concierge'), turn: { truncated: true } } as Band, 'turn concierge, truncated, 321 ms'],
  [chain('turn', 'concierge', { isUnfinished: true }), 'turn concierge, running'],
  [chain('toolCall', 'picnic__book', { isUnfinished: true, askedMs: 3 }), 'tool picnic__book, waits for a person'],
  [
    chain('model', 'Model/main', { isUnfinished: true, limitWait: { limit: 'calls', startMs: 3 } }),
    'model Model/main, waits for a rate limit',
  ],
  [layer({}), 'memory, own 0.50 ms'],
  [layer({ waitedMs: 12_000 }), 'memory, own 0.50 ms, waited for a person 12.0 s'],
  [
    layer({ waitedMs: 12_000, answers: [{ decision: 'approved', by: 'ann' }] }),
    'memory, own 0.50 ms, waited for a person 12.0 s, approved by ann',
  ],
  [
    layer({ waitedMs: 2, answers: [{ decision: 'approved', by: 'ann', grant: '9b1e44c0' }] }),
    'memory, own 0.50 ms, always allowed by ann (9b1e44c0)',
  ],
  [
    chain('toolCall', 'oven__order', { waitedMs: 100, answers: [{ kind: 'form', decision: 'denied', via: 'chat' }] }),
    'tool oven__order, 321 ms, waited for a person 100 ms, declined via chat',
  ],
  [
    layer({ waitedMs: 100, answers: [{ decision: 'approved', by: '\u202eeve', via: 'cli\u200b' }] }),
    'memory, own 0.50 ms, waited for a person 100 ms, approved by \\u202eeve via cli\\u200b',
  ],
  [layer({ emitted: ['append system'] }), 'memory, 1 change, own 0.50 ms'],
  [layer({ outcome: 'skipped', emittedMore: 2 }), 'memory, 2 changes, skipped, own 0.50 ms'],
])('Y-09 the label of a band says when it is truncated: %#', (band, text) => {
  expect(describeBand(band)).toBe(text);
});

test('red are only the bands in which an error began, and no cancelled ones', () => {
  const error = 'E_CANCELLED: no';
  const bands = [
    chain('turn', 'concierge', { error, isCancelled: true }),
    layer({ outcome: 'failed', error, isCancelled: true }),
    chain('turn', 'concierge', { error: 'No.' }),
    layer({ outcome: 'failed', error: 'No.' }),
    { ...chain('turn', 'concierge', { error: 'No.' }), passedOn: true },
    { ...layer({ outcome: 'failed', error: 'No.' }), passedOn: true },
  ];
  expect(bands.map(hasFailed)).toEqual([false, false, true, true, false, false]);
  const tones = bands.map((band) => marksOf(band).map(({ tone }) => tone));
  expect(tones.flat()).toEqual(['plain', 'plain', 'bad', 'bad', 'plain', 'plain']);
});

test('Y-05 a model call shows its cached tokens, and who lost the cache', () => {
  expect(describeTokens({ input: 9, output: 2, cacheRead: 5, cacheWrite: 3 })).toEqual([
    '9 → 2 tokens',
    '5 from the cache',
    '3 to the cache',
  ]);
  const cacheLost = { at: 'message', position: 4, by: { kind: 'extension', name: 'skills' } } as const;
  const lost = { ...cacheLost, did: 'replaced it', tokens: 5 };
  expect(describeCacheLoss(lost)).toBe('cache lost at message 4: `skills` replaced it');
  // Safe: only this field of the request is read.
  const request = { cacheLost: lost } as unknown as NonNullable<SpanBand['chain']['request']>;
  expect(describeBand(chain('model', 'Model/main', { request }))).toBe('model Model/main, cache lost, 321 ms');
});

function chain(kind: Band['kind'], title: string, more: Partial<SpanBand['chain']> = {}): Band {
  const times = { startMs: 0, totalMs: 321.4, layers: [], inside: [], called: [] };
  return {
    ...place,
    type: 'chain',
    kind,
    title,
    turnId: 't',
    chain: { id: 'c', spanId: 's', kind, label: title, ...times, ...more },
  };
}

function layer(more: Partial<LayerRecord>): Band {
  const changes = { changed: [], emitted: [], emittedMore: 0, messages: [], resultChanged: [] };
  const times = { startMs: 0, totalMs: 321.4, ownMs: 0.5 };
  const known = { extension: 'memory', name: 'turn', kind: 'turn', outcome: 'passed' } as const;
  return { ...place, type: 'layer', kind: 'turn', title: 'memory', layer: { ...known, ...times, ...changes, ...more } };
}

import { expect, test } from 'bun:test';
import type { ChainRecord, LayerRecord } from './chain-record.ts';
import { renderTrace } from './render-trace.ts';

function layer(extension: string, more: Partial<LayerRecord> = {}): LayerRecord {
  return {
    extension,
    name: 'step',
    kind: 'step',
    startMs: 0,
    ownMs: 1,
    totalMs: 2,
    outcome: 'passed',
    changed: [],
    resultChanged: [],
    emitted: [],
    emittedMore: 0,
    messages: [],
    ...more,
  };
}

function chain(kind: string, label: string, more: Partial<ChainRecord> = {}): ChainRecord {
  return { kind, label, id: 'id', startMs: 0, totalMs: 3, layers: [], inside: [], ...more };
}

test('P-03 layers are nested as the onion is, and hold what ran inside them', () => {
  const turn = chain('turn', 'coder', {
    totalMs: 1234.5,
    layers: [layer('logging'), layer('memory', { name: 'recall', ownMs: 12.6 })],
    inside: [chain('step', '0', { layers: [layer('guard')], inside: [chain('model', 'Model/m')] }), chain('step', '1')],
  });
  expect(renderTrace(turn)).toBe(
    [
      'turn coder 1235 ms',
      '│ logging own 1.00 ms',
      '│ │ memory · recall own 13 ms',
      '│ │ │ step 0 3.00 ms',
      '│ │ │ │ guard own 1.00 ms',
      '│ │ │ │ │ model Model/m 3.00 ms',
      '│ │ │ step 1 3.00 ms',
    ].join('\n'),
  );
});

test('each layer says what it changed before next(), in the conversation, and in the result', () => {
  const busy = layer('busy', {
    changed: [
      { path: 'args.text', before: 'a', after: 'b' },
      { path: 'args.new', after: '1' },
      { path: 'args.old', before: '2' },
    ],
    emitted: ['append system x', 'truncate'],
    emittedMore: 7,
    resultChanged: [{ path: 'output', before: 'raw', after: '***' }],
  });
  expect(
    renderTrace(chain('toolCall', 'echo__say', { layers: [busy] }))
      .split('\n')
      .slice(2),
  ).toEqual([
    '│ │ ~ args.text: a → b',
    '│ │ ~ args.new added: 1',
    '│ │ ~ args.old removed',
    '│ │ + append system x',
    '│ │ + truncate',
    '│ │ + 7 more',
    '│ │ ← output: raw → ***',
  ]);
});

test('P-11 P-12 how a layer ended is said when it did not just pass', () => {
  const layers = [
    layer('gate', { outcome: 'short_circuit' }),
    layer('shaky', { outcome: 'skipped', error: 'E_X: no' }),
    layer('broken', { outcome: 'failed', error: 'boom' }),
  ];
  const text = renderTrace(chain('step', '0', { layers, error: 'boom' }));
  expect(text.split('\n').slice(1)).toEqual([
    '│ ✗ boom',
    '│ gate own 1.00 ms',
    '│ │ ⊘ did not call next()',
    '│ │ shaky own 1.00 ms',
    '│ │ │ skipped: E_X: no',
    '│ │ │ broken own 1.00 ms',
    '│ │ │ │ ✗ boom',
  ]);
});

test('every piece can be painted; plain text has no colours', () => {
  const painted = renderTrace(chain('step', '0', { layers: [layer('a', { outcome: 'failed', error: 'no' })] }), {
    paint: (style, text) => `<${style}>${text}</${style}>`,
  });
  expect(painted).toBe(
    [
      '<kind>step</kind> <name>0</name> <time>3.00 ms</time>',
      '│ <name>a</name> <time>own 1.00 ms</time>',
      '│ │ <error>✗ no</error>',
    ].join('\n'),
  );
});

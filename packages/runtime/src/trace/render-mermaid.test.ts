import { expect, test } from 'bun:test';
import { madeRecord as chain, madeLayer } from '../testing/made-trace.ts';
import type { TurnTrace } from './turn-trace.ts';
import { renderMermaid } from './render-mermaid.ts';

const turn = (agentName: string, more: Partial<TurnTrace> = {}): TurnTrace => ({
  turnId: `turn-${agentName}`,
  traceId: 'trace',
  spanId: '1111111111111111',
  agentName,
  instanceKey: 'default',
  source: { kind: 'cli', name: 'gdn' },
  startedAt: '2026-01-01T00:00:01.000Z',
  input: `ask ${agentName}`,
  durationMs: 9,
  finishReason: 'text_response',
  resumes: 0,
  chain: chain('turn', agentName),
  missing: { chains: 0, lines: 0, isCut: false },
  ...more,
});

test('the diagram has the calls between agents, tool calls, layers with an effect, and the outcome', () => {
  const passing = madeLayer('quiet');
  const busy = { ...passing, extension: 'guard', emitted: ['truncate'], outcome: 'skipped' } as const;
  const call = chain('toolCall', 'agents__request', { called: [turn('guest', { error: 'E_X: no' })] });
  const step = chain('step', '0', { layers: [passing, busy], inside: [chain('model', 'Model/m'), call] });
  expect(renderMermaid([turn('host', { chain: chain('turn', 'host', { inside: [step] }) })]).split('\n')).toEqual([
    'sequenceDiagram',
    '  participant asker as whoever asked',
    '  participant p0 as host',
    '  participant p1 as Model/m',
    '  participant p2 as agents__request',
    '  participant p3 as guest',
    '  asker->>p0: ask host',
    '  activate p0',
    '  Note over p0: step 0<br/>guard 1.00 ms, 1 change, skipped',
    '  p0->>p1: model call',
    '  p1-->>p0: 2.00 ms',
    '  p0->>p2: tool call',
    '  p2->>p3: ask guest',
    '  activate p3',
    '  p3--xp2: E_X no, 9.00 ms',
    '  deactivate p3',
    '  p2-->>p0: 2.00 ms',
    '  p0-->>asker: answered, 9.00 ms',
    '  deactivate p0',
  ]);
});

test('characters with a meaning in Mermaid are removed from texts', () => {
  const text = renderMermaid([turn('host', { input: 'a;b\nend:#<br/>%%{init}' })]);
  expect(text).toContain('  asker->>p0: a b end br/ init\n');
});

test('the diagram is limited: further lines are counted, and open activations are closed', () => {
  const inside = Array.from({ length: 1_000 }, (_, index) => chain('model', `Model/m${index % 2}`));
  const lines = renderMermaid([turn('host', { chain: chain('turn', 'host', { inside }) })]).split('\n');
  expect(lines.length).toBeLessThan(420);
  expect(lines.slice(-2)).toEqual(['  deactivate p0', '  Note over asker: 1603 more, not drawn']);
});

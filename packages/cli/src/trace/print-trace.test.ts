import { expect, test } from 'bun:test';
import type { TurnTrace } from '@goondan/runtime/history';
import { openTerminal } from '../terminal.ts';
import { printTrace } from './print-trace.ts';

const part = { id: 'x', spanId: 'b'.repeat(16), startMs: 0, totalMs: 3, layers: [], called: [] };
const call = { ...part, kind: 'toolCall', label: 'shop__buy', input: `{"what":"${'apples '.repeat(60)}"}`, inside: [] };
const turn = {
  turnId: 'turn-mail-17',
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  agentName: 'host',
  instanceKey: 'default',
  startedAt: '2026-01-02T03:04:05.000Z',
  durationMs: 3,
  resumes: 0,
  missing: { chains: 0, lines: 0, isCut: false },
  chain: { ...part, kind: 'turn', label: 'host', inside: [call] },
  // Safe: the fields that are left out are optional, or are not printed.
} as unknown as TurnTrace;

test.each([
  ['as wide as the terminal', { isTTY: true, columns: 60 }, 60],
  ['160 columns wide in a pipe', {}, 160],
])('the arguments of a tool call are cut to their line, which is %s', (_title, stream, width) => {
  let screen = '';
  const stdout = { write: (text: string) => (screen += text), ...stream };
  printTrace([turn], openTerminal({ stdout, stderr: stdout, env: { NO_COLOR: '1' } }), { hasHeads: false });
  const lines = screen.trimEnd().split('\n').slice(-2);
  expect(lines).toEqual([
    'turn host 3.00 ms',
    expect.stringMatching(/^│ toolCall shop__buy 3\.00 ms \{"what":"apples .*…$/),
  ]);
  expect(Bun.stringWidth(lines[1] ?? '')).toBe(width);
});

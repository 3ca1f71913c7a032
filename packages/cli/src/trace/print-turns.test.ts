import { expect, test } from 'bun:test';
import type { TurnSummary } from '@goondan/runtime/history';
import { findTurnId } from '@goondan/runtime/internal';
import { openTerminal } from '../terminal.ts';
import { printTurns } from './print-turns.ts';

const turn = (instanceKey: string, input: string): TurnSummary => ({
  turnId: 'turn-1',
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  agentName: 'host',
  instanceKey,
  source: { kind: 'cli', name: 'gdn' },
  startedAt: new Date(2026, 0, 2, 3, 4, 5).toISOString(),
  input,
  resumes: 0,
});

test.each<[string, Partial<TurnSummary>]>([
  ['cancelled', { finishReason: 'error', ending: 'cancelled', error: 'E_CANCELLED: no more' }],
  ['E_MODEL_FAILED', { finishReason: 'error', ending: 'failed', error: 'E_MODEL_FAILED: no' }],
  ['ok, truncated', { finishReason: 'text_response', ending: 'answered', truncated: true }],
  ['max_steps, resumed', { finishReason: 'max_steps', ending: 'max_steps', resumes: 1 }],
])('a turn is listed as %s', (outcome, end) => {
  let screen = '';
  const stdout = { write: (text: string) => (screen += text) };
  printTurns([{ ...turn('default', 'Hi'), ...end }], openTerminal({ stdout, stderr: stdout, env: {} }));
  expect(screen).toEndWith(`  ${outcome}  Hi\n`);
});

test('the table has local times, and is as wide as the terminal, also with wide characters', () => {
  let screen = '';
  const stdout = { write: (text: string) => (screen += text), isTTY: true, columns: 90 };
  const terminal = openTerminal({ stdout, stderr: stdout, env: { NO_COLOR: '1' } });
  printTurns(
    [turn('방문자-漢字', '漢字 '.repeat(50)), turn('default', 'x'.repeat(100)), turn('漢'.repeat(30), 'Hi')],
    terminal,
  );
  const [heads = '', ...rows] = screen.trimEnd().split('\n');
  const startOf = (row: string, word: string) => Bun.stringWidth(row.slice(0, row.indexOf(word)));
  for (const row of rows) {
    // At a terminal, times are local.
    expect(row).toStartWith('2026-01-02 03:04:05  host');
    expect(startOf(row, 'turn-1')).toBe(startOf(heads, 'turn '));
    expect(Bun.stringWidth(row)).toBeLessThanOrEqual(90);
  }
  expect(rows.map((row) => row.endsWith('…'))).toEqual([true, true, false]);
});

test.each([40, 60])('in %d columns, the columns that do not fit are below, under their heads', (columns) => {
  let screen = '';
  const stdout = { write: (text: string) => (screen += text), isTTY: true, columns };
  const terminal = openTerminal({ stdout, stderr: stdout, env: { NO_COLOR: '1' } });
  printTurns([turn('default', 'word '.repeat(50))], terminal);
  const lines = screen.trimEnd().split('\n');
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
  const [heads, row] = [lines.slice(0, lines.length / 2), lines.slice(lines.length / 2)];
  expect(heads.join(' ').split(/ +/)).toEqual(['time', 'agent', 'instance', 'turn', 'took', 'outcome', 'asked']);
  const placeOf = (texts: readonly string[], text: string) => texts.map((each) => each.indexOf(text));
  expect(placeOf(row, 'turn-1')).toEqual(placeOf(heads, 'turn'));
  expect(placeOf(row, 'word')).toEqual(placeOf(heads, 'asked'));
});

test('every listed id finds its turn, also if a sender chose a long id', () => {
  let screen = '';
  const stdout = { write: (text: string) => (screen += text) };
  const uuid = '1f3a9c2b-0000-4000-8000-000000000000';
  const ids = [
    'a-long-id-of-a-mail-17@example.com',
    'another-long-id-of-a-mail-18@example.com~retry',
    `event-${uuid}`,
    `event-${uuid}~retry`,
  ].map((id) => `turn-${id}`);
  const turns = ids.map((turnId) => ({ ...turn('default', 'Hi'), turnId }));
  printTurns(turns, openTerminal({ stdout, stderr: stdout, env: {} }));
  const shown = screen.split('\n').flatMap((row) => / default +(\S+)/.exec(row)?.slice(1) ?? []);
  expect(shown[0]).toBe('a-long-id-of-a-mail-17@e');
  expect(shown.slice(2)).toEqual(['1f3a9c2b', '1f3a9c2b~retry']);
  expect(shown.map((id) => findTurnId(id, ids))).toEqual(ids);
});

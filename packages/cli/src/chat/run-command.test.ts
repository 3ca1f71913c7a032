import { expect, test } from 'bun:test';
import type { Chat } from './chat.ts';
import { type CommandDeps, runCommand } from './run-command.ts';
import type { Line } from './screen/line.ts';
import { widthOfLine } from './screen/wrap-line.ts';

test.each([
  [0, ['Nothing is waiting for an answer.']],
  [2, []],
])('N-04 /questions asks again about %d questions', async (waiting, said) => {
  const printed: unknown[] = [];
  let asks = 0;
  // The casts are safe: the command uses nothing else.
  const chat = { screen: { print: (lines: unknown[]) => void printed.push(...lines) } } as unknown as Chat;
  const deps = { askAgain: () => ((asks += 1), waiting) } as unknown as CommandDeps;
  await runCommand({ name: 'questions' }, chat, deps);
  expect(asks).toBe(1);
  expect(printed).toHaveLength(said.length);
  for (const words of said) expect(JSON.stringify(printed)).toContain(words);
});

test('commands fit the terminal as wide as it is now', async () => {
  const printed: Line[] = [];
  const notes: string[] = [];
  const screen = { columns: 40, print: (lines: Line[]) => void printed.push(...lines) };
  // The casts are safe: the commands use nothing else.
  const chat = { screen, note: (text: string) => void notes.push(text) } as unknown as Chat;
  const deps = { look: async (...[, , columns]: Parameters<CommandDeps['look']>) => `${columns} columns` };
  await runCommand({ name: 'usage' }, chat, deps as unknown as CommandDeps);
  expect(notes).toEqual(['40 columns']);
  await runCommand({ name: 'help' }, chat, deps as unknown as CommandDeps);
  for (const each of printed) expect(widthOfLine(each)).toBeLessThanOrEqual(40);
});

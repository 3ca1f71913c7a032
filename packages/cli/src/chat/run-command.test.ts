import { expect, test } from 'bun:test';
import type { Chat } from './chat.ts';
import { type CommandDeps, runCommand } from './run-command.ts';

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

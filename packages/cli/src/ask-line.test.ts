import { expect, test } from 'bun:test';
import { askLine } from './ask-line.ts';
import { openTerminal } from './terminal.ts';

test('a question breaks between words, and the person types behind a space', async () => {
  let screen = '';
  const stderr = { write: (text: string) => (screen += text), isTTY: true, columns: 40 };
  const terminal = openTerminal({ stdin: { isTTY: true }, stdout: stderr, stderr, env: {} });
  const question = 'The code in /home/ann/swarm is not trusted yet. Run it, and remember that? [y/N] ';
  expect(await askLine(question, terminal, AbortSignal.abort())).toBeUndefined();
  expect(screen).toBe('The code in /home/ann/swarm is not\ntrusted yet. Run it, and remember that?\n[y/N] \n');
});

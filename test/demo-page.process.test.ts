// Checks that the page about the demo shows the real output of the program.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCodeBlocks, repository } from './read-repository.ts';

test('docs/demo.md shows the output of `gdn demo`, except for times', async () => {
  const [shown = ''] = readCodeBlocks(readFileSync(join(repository, 'docs/demo.md'), 'utf8'), 'text gdn demo');
  const demo = Bun.spawn(['node', join(repository, 'packages/cli/bin/gdn.mjs'), 'demo'], { stdin: 'ignore' });
  expect(withoutTimes(shown)).toBe(withoutTimes((await demo.stdout.text()).trimEnd()));
});

function withoutTimes(text: string): string {
  return text.replaceAll(/\d+(\.\d+)? ms$/gm, 'N ms');
}

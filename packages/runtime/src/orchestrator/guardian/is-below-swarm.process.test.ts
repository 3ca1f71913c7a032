import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { isBelowSwarm } from './is-below-swarm.ts';

const file = join(import.meta.dir, 'is-below-swarm.ts');
const look = `import { isBelowSwarm } from ${JSON.stringify(file)}; console.log(isBelowSwarm());`;

/** Runs a program with this command and environment, and returns its output. */
async function seenBy(command: readonly string[], env: Record<string, string>): Promise<string> {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env['PATH'] ?? '', LOOK: look, BUN: process.execPath, ...env },
  });
  return (await child.stdout.text()).trim();
}

describe('whether a program runs below a swarm', () => {
  test('is seen in its own environment', () => {
    expect(isBelowSwarm({ GOONDAN_RUN: 'x' }, 1)).toBe(true);
    expect(isBelowSwarm({ GOONDAN_CHILD: 'x' }, 1)).toBe(true);
    expect(isBelowSwarm({}, 1)).toBe(false);
  });

  test('is seen in that of its ancestors, even if it has cleared its own', async () => {
    const run = { GOONDAN_RUN: '00000000-0000-0000-0000-000000000000' };
    const plain = ['sh', '-c', '"$BUN" -e "$LOOK"; true'];
    const cleared = ['sh', '-c', 'env -u GOONDAN_RUN sh -c "\\"\\$BUN\\" -e \\"\\$LOOK\\"; true"; true'];
    expect(await seenBy(plain, {})).toBe('false');
    expect(await seenBy(plain, run)).toBe('true');
    expect(await seenBy(cleared, run)).toBe('true');
    expect(await seenBy(cleared, {})).toBe('false');
  });
});

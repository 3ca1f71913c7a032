import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runExamples } from './run-examples.ts';

const temporary = mkdtempSync(join(tmpdir(), 'gdn-examples-'));
afterAll(() => rmSync(temporary, { recursive: true }));

describe('npm run examples', () => {
  test('runs each in its own folder, with a line for each', async () => {
    const standsInItsFolder = `if (!(await Bun.file('check.ts').exists())) process.exit(1);`;
    const { code, lines } = await run({ beta: standsInItsFolder, alpha: standsInItsFolder });
    expect(lines.map((line) => line.replace(/\d+ ms/, 'N ms'))).toEqual([
      'ok     alpha (N ms)',
      'ok     beta (N ms)',
      '2 examples, 0 failed',
    ]);
    expect(code).toBe(0);
  });

  test('a failing example fails the run, shows its output, and does not stop the others', async () => {
    const { code, lines } = await run({
      alpha: `console.log('wrong answer'); process.exit(3);`,
      beta: `process.kill(process.pid, 'SIGKILL');`,
      gamma: '',
    });
    expect(lines.slice(0, 4)).toEqual([
      'failed alpha (exit 3)',
      'wrong answer\n',
      'failed beta (ended by SIGKILL)',
      '',
    ]);
    expect(lines.at(-1)).toBe('3 examples, 2 failed');
    expect(code).toBe(1);
  });

  test('a run without examples is a failure', async () => {
    const { code } = await run({});
    expect(code).toBe(1);
  });
});

async function run(checks: Record<string, string>): Promise<{ code: number; lines: string[] }> {
  const repository = mkdtempSync(join(temporary, 'repository-'));
  for (const [name, source] of Object.entries(checks)) {
    await Bun.write(join(repository, 'examples', name, 'check.ts'), source);
  }
  const lines: string[] = [];
  const code = await runExamples(repository, (line) => void lines.push(line));
  return { code, lines };
}

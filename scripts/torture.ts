// `npm run torture`: kills a thousand real processes, and reports the state that is left. `--kills 200` kills only 200.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { torture } from '../test/torture/torture.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '1000' } } });
const kills = Number(values.kills);
if (!Number.isSafeInteger(kills) || kills < 1) {
  process.stderr.write(`--kills ${values.kills}: not a whole number from 1.\n`);
  process.exit(2);
}

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-torture-'));
const startedAt = performance.now();
const report = await torture({ stateRoot, kills, onProgress: (line) => process.stdout.write(`${line}\n`) });
const { lost, duplicated, unreadable, wrong, orphans, delay } = report;
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
process.stdout.write(`${Math.round((performance.now() - startedAt) / 1_000)} s\n`);

const LONGEST_P99_MS = 50;
const problems = [
  ...Object.entries({ lost, duplicated, unreadable, wrong }).map(([name, list]) => [name, list.length] as const),
  ['orphans', orphans] as const,
  ['a loop delay of 50 ms or more at p99', delay.p99 >= LONGEST_P99_MS ? 1 : 0] as const,
].filter(([, count]) => count > 0);
if (problems.length === 0) {
  process.stdout.write('Nothing lost, nothing twice, nothing left.\n');
  await rm(stateRoot, { recursive: true, force: true });
} else {
  process.stdout.write(`${problems.map(([name, count]) => `${name}: ${count}`).join(', ')}; see ${stateRoot}\n`);
  process.exitCode = 1;
}

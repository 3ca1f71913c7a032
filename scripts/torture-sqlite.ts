/**
 * `npm run torture -- sqlite`: kills programs that write a SQLite database of ours, and cuts the power of its disk. Every
 * confirmed item must be there afterwards. `--kills 20 --cuts 200` does less. The cuts need `strace`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cutWriter } from '../packages/store/src/simulation/cut-writers.ts';
import { killWriters } from '../packages/store/src/simulation/kill-writers.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '200' }, cuts: { type: 'string', default: '2000' } },
});
const MOST_SHOWN = 20;
for (const [name, value] of Object.entries(values)) {
  if (/^\d+$/.test(value)) continue;
  process.stderr.write(`--${name} ${value}: not a whole number.\n`);
  process.exit(2);
}
if (Bun.which('strace') === null) {
  process.stderr.write('There is no strace, which records the writes. Install the package of this name.\n');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'goondan-sqlite-'));
const killed = await killWriters(folder, Number(values.kills));
console.log(`${values.kills} kills: ${killed.confirmed} items confirmed, ${killed.problems.length} problems`);
const cut = await cutWriter(folder, Number(values.cuts));
console.log(`${values.cuts} cuts in ${cut.events} events, ${cut.syncs} of them syncs: ${cut.problems.length} problems`);
console.log(`a disk that ignores the syncs of the log: ${cut.mutant.length} problems`);
const problems = [...killed.problems, ...cut.problems];
if (cut.mutant.length === 0) problems.push('A log that is never synced loses nothing, so the cuts show nothing.');
for (const problem of problems.slice(0, MOST_SHOWN)) console.log(problem);
if (problems.length === 0) rmSync(folder, { recursive: true });
else console.log(`${problems.length} problems; see ${folder}`);
process.exitCode = problems.length === 0 ? 0 : 1;

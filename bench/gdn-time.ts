/** Measures how long a command of `gdn` takes, as npm installs it, from its start to its end. */
import { join } from 'node:path';
import { medianOf } from './measure.ts';

const gdn = join(import.meta.dir, '..', 'node_modules', '.bin', 'gdn');
// Node would take up to 40 ms to read a developer's certificates, which no command needs.
const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;

/** Returns the median of several runs, in milliseconds. The first run, which fills the page cache, is not counted. */
export async function timeGdn(args: readonly string[], times = 11): Promise<number> {
  const taken: number[] = [];
  for (let time = -1; time < times; time++) {
    const startedAt = performance.now();
    const child = Bun.spawn([gdn, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const status = await child.exited;
    if (time >= 0) taken.push(performance.now() - startedAt);
    if (status !== 0) throw new Error(`gdn ${args.join(' ')}: ${await new Response(child.stderr).text()}`);
  }
  return medianOf(taken);
}

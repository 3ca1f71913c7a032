/** The orchestrator under test, in a separate process. Prints `ready`, and records the delays of its event loop. */
import { writeFileSync } from 'node:fs';
import { startSwarm } from '@goondan/runtime';
import { torturePlan } from './plan.ts';

const stateRoot = process.argv[2] ?? '';
const LOOK_MS = 5;
/** Milliseconds of delay → number of ticks with this delay. */
let delays: Record<number, number> = {};
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  const late = Math.max(0, Math.floor(now - last - LOOK_MS));
  delays[late] = (delays[late] ?? 0) + 1;
  last = now;
}, LOOK_MS);

const swarm = await startSwarm(torturePlan(stateRoot));
// Starts counting here, because delays during the start do not count.
delays = {};
setInterval(() => writeFileSync(`${stateRoot}/delays-${process.pid}.json`, JSON.stringify(delays)), 200);
process.stdout.write('ready\n');
process.on('SIGTERM', () => void swarm.stop());
await swarm.stopped;
process.exit(0);

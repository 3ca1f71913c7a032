/** The orchestrator under test, in a separate process. It prints `ready`, and records the delays of its event loop. */
import { writeFileSync } from 'node:fs';
import { startSwarm } from '@goondan/runtime';
import { torturePlan } from './plan.ts';

const stateRoot = process.argv[2] ?? '';
const LOOK_MS = 5;
/** The number of ticks of the event loop for each delay, in milliseconds. */
let delays: Record<number, number> = {};
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  const late = Math.max(0, Math.floor(now - last - LOOK_MS));
  delays[late] = (delays[late] ?? 0) + 1;
  last = now;
}, LOOK_MS);

const swarm = await startSwarm(torturePlan(stateRoot));
// Counting starts here, because delays during the start of the swarm do not matter. The tick that ends the start does
// not count either.
delays = {};
last = performance.now();
setInterval(() => writeFileSync(`${stateRoot}/delays-${process.pid}.json`, JSON.stringify(delays)), 200);
process.stdout.write('ready\n');
process.on('SIGTERM', () => void swarm.stop());
await swarm.stopped;
process.exit(0);

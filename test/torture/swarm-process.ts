/** The orchestrator under test, in a separate process. It prints `ready`, and records the delays of its event loop. */
import { startSwarm } from '@goondan/runtime';
import { recordDelays } from './loop-delays.ts';
import { torturePlan } from './plan.ts';

const stateRoot = process.argv[2] ?? '';
const swarm = await startSwarm(torturePlan(stateRoot));
// Recording starts here, because delays during the start of the swarm do not matter.
recordDelays(stateRoot);
process.stdout.write('ready\n');
process.on('SIGTERM', () => void swarm.stop());
await swarm.stopped;
process.exit(0);

/** A swarm to be killed: its argument is the folder of the test. Prints `ready` when it accepts input. */
import { startSwarm } from '@goondan/runtime';
import { planIn } from './plan.ts';

await startSwarm(planIn(process.argv[2] ?? ''));
process.stdout.write('ready\n');

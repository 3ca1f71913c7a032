/**
 * Runs a swarm in a separate process, which a test kills. The argument of the program is the test's folder. It prints
 * `ready` when the swarm accepts input.
 */
import { startSwarm } from '@goondan/runtime';
import { planIn } from './plan.ts';

await startSwarm(planIn(process.argv[2] ?? ''));
process.stdout.write('ready\n');

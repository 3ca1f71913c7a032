/**
 * Runs a swarm in a separate process, to be killed by a test. Its argument is the test's folder. Prints `ready` when
 * the swarm accepts input.
 */
import { startSwarm } from '@goondan/runtime';
import { planIn } from './plan.ts';

await startSwarm(planIn(process.argv[2] ?? ''));
process.stdout.write('ready\n');

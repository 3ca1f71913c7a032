/**
 * Runs the swarm of a test in a separate process, until it is stopped or killed. It prints, as JSON, that the swarm
 * runs, or the reason why it does not.
 */
import { GoondanError } from '@goondan/types';
import { startSwarm } from '@goondan/runtime';
import { testPlan } from './start-test-swarm.ts';

const [folder = '', ...agents] = process.argv.slice(2);
try {
  const swarm = await startSwarm(testPlan(folder, { agents }));
  process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`);
  await swarm.stopped;
} catch (error) {
  const { code, message } = GoondanError.is(error) ? error : new GoondanError('E_PROCESS_START', String(error));
  process.stdout.write(`${JSON.stringify({ code, message })}\n`);
}
process.exit(0);

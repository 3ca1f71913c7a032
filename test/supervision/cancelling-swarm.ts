/**
 * Runs an orchestrator that a test kills after it has reported a cancel, but before the cancelled turn has ended. Its
 * arguments are the state root, which is also the working folder of its agents, and the situation. It prints
 * `cancelled` after the cancel.
 */
import { startSwarm } from '@goondan/runtime';
import { cancelledAgents } from './cancelled-agents.ts';
import { notesIn, workspace } from './kit.ts';
import { until } from '../until.ts';

const [, , folder = '', situation = ''] = process.argv;
const swarm = await startSwarm({
  name: 'cancelling',
  workspace,
  stateRoot: folder,
  agents: cancelledAgents(folder),
  // With this policy, a turn that ignores the signal does not end, and a crashed process is not restarted.
  policy: { unwindMs: 600_000, restart: { quickCrashes: 0, baseMs: 600_000, maxMs: 600_000, healthyMs: 600_000 } },
});
const hasBegun = () => notesIn(folder).some((note) => note.startsWith('begin'));
const clerk = async () => (await swarm.status()).instances.find(({ agent }) => agent === 'clerk');

if (situation === 'waiting') {
  await swarm.deliver({ agent: 'clerk', id: 'first', input: 'again wait-for:permission' });
  await until(hasBegun, { about: 'the first runs' });
}
const agent = situation === 'asking' ? 'front' : 'clerk';
await swarm.deliver({ agent, id: 'unwanted', input: situation === 'asking' ? 'please' : 'be deaf' });
await until(hasBegun, { about: 'a tool runs' });
if (situation === 'crashed') {
  process.kill((await clerk())?.pid ?? 0, 'SIGKILL');
  await until(async () => (await clerk())?.pid === undefined, { about: 'its process is gone' });
}
if (!(await swarm.cancel({ agent, eventId: 'unwanted', reason: 'enough' })))
  throw new Error('There is nothing to cancel.');
process.stdout.write('cancelled\n');

/**
 * Runs an orchestrator in a separate process, which a test kills. Its agents have blocked their event loops and started
 * programs in separate sessions. Its argument is the state root. It prints `ready` when its events are accepted.
 */
import { startSwarm } from '@goondan/runtime';
import { extensionOf, scriptedAgent, workspace } from './kit.ts';

const swarm = await startSwarm({
  name: 'doomed',
  workspace,
  stateRoot: process.argv[2] ?? '',
  agents: [scriptedAgent('clerk', { extensions: [extensionOf('misbehaving')] })],
});
for (const [instanceKey, deed] of [
  ['blocked', 'leave-and-loop'],
  ['waiting', 'leave-and-wait'],
]) {
  await swarm.deliver({ instanceKey: instanceKey ?? '', id: 'kept', input: `again ${deed}` });
}
process.stdout.write('ready\n');

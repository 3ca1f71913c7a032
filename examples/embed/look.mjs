import { homedir } from 'node:os';
import { connectSwarm } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { stateRoot } from '@goondan/runtime/control';

const environment = process.env;
const { workspaceId } = resolveSwarm(await loadBundle('shop', { environment }), { environment });
const root = stateRoot({ home: homedir(), environment: environment.GOONDAN_STATE_ROOT });

const swarm = await connectSwarm({ stateRoot: root, workspaceId });
for (const { agent, instanceKey, status } of await swarm.instances()) console.log(agent, instanceKey, status);
for (const { toolName, args } of await swarm.questions()) console.log('waits for approval:', toolName, args);

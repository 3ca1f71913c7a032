/** Runs all checks of `gdn doctor`. Runs no code of a bundle, and changes nothing. */
import { dirname, join } from 'node:path';
import { stateRoot } from '@goondan/runtime/control';
import {
  agentRunner,
  canReadProcesses,
  connectorRunner,
  findCounterDamage,
  guardianRunner,
  keeperRunner,
  providerVariables,
} from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { type BundleOptions, stateRootChoice } from '../common-options.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { placeOfSwarm } from '../swarm/reach-swarm.ts';
import { openReader, type SwarmPlace } from '../swarm/swarm-place.ts';
import { type Check, ok, warning } from './check.ts';
import { checkCounters } from './check-counters.ts';
import { checkFiles } from './check-files.ts';
import { checkBun, checkGit, checkNode, checkNpm, checkSandbox } from './check-programs.ts';
import { checkRunners } from './check-runners.ts';
import { checkStateRoot } from './check-state-root.ts';
import { checkTelemetry } from './check-telemetry.ts';

/** **Errors** — `E_BUNDLE_MISSING`, when a bundle was named and does not exist. */
export async function examine(options: BundleOptions): Promise<readonly Check[]> {
  const [node, npm, git, sandbox, telemetry, swarm] = await Promise.all([
    checkNode(),
    checkNpm(),
    checkGit(),
    checkSandbox(),
    checkTelemetry(process.env),
    checkSwarm(options),
  ]);
  return [
    node,
    checkBun(),
    npm,
    git,
    checkRunners([agentRunner, connectorRunner, guardianRunner, keeperRunner], join(dirname(agentRunner), '..', 'src')),
    checkStateRoot(stateRoot(stateRootChoice(options))),
    checkProcesses(canReadProcesses()),
    sandbox,
    checkKeys(process.env),
    telemetry,
    ...swarm,
  ];
}

export function checkProcesses(isReadable: boolean): Check {
  if (isReadable) return ok('processes', '/proc can be read: nothing a swarm starts is left behind');
  const detail = '/proc cannot be read: what leaves the process group of its agent is not found when that ends';
  return warning('processes', detail, 'You need not do anything, unless tools start programs that detach themselves.');
}

/** Lists the names of the set keys, never their values. */
export function checkKeys(environment: Readonly<Record<string, string | undefined>>): Check {
  const keys = Object.values(providerVariables).map(({ key }) => key);
  const set = keys.filter((key) => environment[key]);
  if (set.length > 0) return ok('keys', `set: ${set.join(', ')}`);
  const suggestion = `Set one of ${keys.join(', ')} to call a provider; the scripted model and local servers need none.`;
  return warning('keys', 'no key of a provider is set', suggestion);
}

/** Checks the swarm of the bundle, and its files if it has ever run. */
async function checkSwarm(options: BundleOptions): Promise<readonly Check[]> {
  const name = 'swarm';
  try {
    const { swarm, ...place } = await placeOfSwarm(options);
    const status = await (await attachSwarm(place))?.status();
    const files = [...(await filesOf(place)), ...(await countersOf(place))];
    if (status === undefined) return [ok(name, `"${swarm}" is not running`), ...files];
    return [ok(name, `"${status.swarm}" runs in process ${status.pid} since ${status.startedAt}`), ...files];
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    if (error.code !== 'E_BUNDLE_MISSING') {
      return [warning(name, `${error.code}: ${error.message}`, error.suggestion ?? 'See `gdn validate`.')];
    }
    if (options.bundle !== undefined) throw error;
    return [ok(name, 'no bundle in this folder')];
  }
}

/** In a store, the database keeps the counters. */
async function countersOf(place: SwarmPlace): Promise<readonly Check[]> {
  return place.cluster === undefined ? checkCounters(() => findCounterDamage(place)) : [];
}

async function filesOf(place: SwarmPlace): Promise<readonly Check[]> {
  const store = await openReader({ ...place, warn: () => undefined });
  try {
    return (await store.directory.exists()) ? [await checkFiles(store.blobs)] : [];
  } finally {
    await store.close();
  }
}

/** Migrates a state root, and kills the migrating process at random moments. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readOwner } from '../../packages/runtime/src/testing/read-owner.ts';
import type { Random } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { waitUntilGone } from '../../test/torture/processes.ts';
import type { Place } from './place.ts';
import type { Group } from './process-group.ts';
import { type Version, workspace } from './version.ts';

/** The time of a migration that nobody disturbs, in milliseconds. */
export interface Duration {
  /** The time until the process begins to migrate. */
  readonly start: number;
  readonly migration: number;
}

export interface Kills {
  /** The kills before the end of the migration. */
  readonly kills: number;
  /** How many of these interrupted the work on a conversation, so that the next process found a part of it. */
  readonly halfway: number;
}

/** The command that is the first to read the root. */
const READ = ['instance', 'list'];
const START_KILLS = 3;
const FRACTIONS = 1_000_000;

export async function measureMigration(version: Version, place: Place, stateRoot: string): Promise<Duration> {
  const all = await timeOf(version, place, stateRoot);
  const start = await timeOf(version, place, stateRoot);
  return { start, migration: Math.max(1, all - start) };
}

async function timeOf(version: Version, place: Place, stateRoot: string): Promise<number> {
  const startedAt = performance.now();
  const group = version.start(stateRoot, ...READ, '--bundle', place.bundle);
  if ((await group.exited) !== 0) throw new Error(`The migration failed: ${await group.errors()}`);
  return performance.now() - startedAt;
}

/** Kills up to `most` processes. The first half are swarms, the others are commands. Then lets a command finish. */
export async function killMigration(
  version: Version,
  place: Place,
  stateRoot: string,
  { most, duration, random }: { readonly most: number; readonly duration: Duration; readonly random: Random },
): Promise<Kills> {
  let kills = 0;
  let halfway = 0;
  const all = namesIn(stateRoot, '').length;
  while (kills < most && !isMigrated(stateRoot)) {
    // A swarm that finishes the migration would begin with turns, so a command finishes it.
    const isSwarm = kills % 2 === 0 && namesIn(stateRoot, 'format-1').length < all / 2;
    const args = isSwarm ? ['run', place.bundle, '--trust', '--json'] : [...READ, '--bundle', place.bundle];
    const group = version.start(stateRoot, ...args);
    await untilMoment(stateRoot, group, { all, most, duration, random });
    const isKilled = group.kill();
    await group.gone();
    if (isMigrated(stateRoot)) {
      if (isSwarm) throw new Error('The swarm has finished the migration before it was killed. Use another --seed.');
      break;
    }
    if (!isKilled) throw new Error(`The process has ended before it was killed: ${await group.errors()}`);
    kills += 1;
    if (namesIn(stateRoot, '').some((name) => name.startsWith('.migrated-'))) halfway += 1;
  }
  const { exitCode, stderr } = await version.gdn(stateRoot, ...READ);
  if (exitCode !== 0 || stderr !== '') throw new Error(`The migration failed: ${stderr}`);
  return { kills, halfway };
}

/**
 * Waits for the moment of a kill. One in eight is while the process starts. The others are while it migrates, whatever the
 * machine does besides: the number of migrated conversations tells how far it is.
 */
async function untilMoment(
  stateRoot: string,
  group: Group,
  {
    all,
    most,
    duration,
    random,
  }: { readonly all: number; readonly most: number; readonly duration: Duration; readonly random: Random },
): Promise<void> {
  if (random.below(8) === 0) return Bun.sleep(duration.start * fraction(random));
  const migrated = () => namesIn(stateRoot, 'format-1').length;
  const wanted = migrated() + random.below(Math.max(2, Math.round(all / most)));
  const exited = group.exited.then(() => 'exited');
  while (migrated() <= wanted) if ((await Promise.race([exited, Bun.sleep(1)])) === 'exited') break;
  await Bun.sleep((fraction(random) * 2 * duration.migration) / all);
}

/**
 * Starts the swarm on the migrated files, and kills it at random moments, because its first start imports the inputs. Turns may
 * begin meanwhile, so it is killed less often than an event may crash.
 */
export async function killStart(
  version: Version,
  place: Place,
  stateRoot: string,
  { duration, random }: { readonly duration: Duration; readonly random: Random },
): Promise<void> {
  for (let kill = 0; kill < START_KILLS; kill++) {
    const swarm = version.start(stateRoot, 'run', place.bundle, '--trust', '--json');
    await Bun.sleep(duration.start * (0.5 + fraction(random)));
    const owner = await readOwner({ stateRoot, workspaceId: workspace });
    swarm.kill();
    await swarm.gone();
    if (owner && (await waitUntilGone(owner.runTag, 10_000)) === undefined) throw new Error('Processes are left.');
  }
}

/** Returns a number from 0 to below 1. */
function fraction(random: Random): number {
  return random.below(FRACTIONS) / FRACTIONS;
}

function isMigrated(stateRoot: string): boolean {
  return existsSync(join(stateRoot, 'workspaces', workspace, 'format.json'));
}

function namesIn(stateRoot: string, part: '' | 'format-1'): string[] {
  const folder = join(stateRoot, part, 'workspaces', workspace, 'instances');
  return existsSync(folder) ? readdirSync(folder) : [];
}

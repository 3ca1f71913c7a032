/**
 * `npm run torture:migration`: the last version that wrote format 1 writes a state root, and its processes are killed
 * meanwhile. This version migrates copies of it, and is killed meanwhile, too. Then everything that the commands show must
 * be the same, and both versions must go on: this one with its files, the old one with the files that the migration has kept.
 */
import { realpathSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { seededRandom } from '../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { compareFiles, isCopied } from './torture-migration/compare-files.ts';
import { goOn } from './torture-migration/go-on.ts';
import { killMigration, killStart, measureMigration } from './torture-migration/kill-migration.ts';
import { buildThisVersion, makeOldVersion, SetupError } from './torture-migration/old-version.ts';
import { help, type Options, readOptions } from './torture-migration/options.ts';
import { Place } from './torture-migration/place.ts';
import { killGroups } from './torture-migration/process-group.ts';
import { compareShown, readRoot } from './torture-migration/read-root.ts';
import { loadVersion, untilSwarmsGone } from './torture-migration/version.ts';
import { writeRoot } from './torture-migration/write-root.ts';

const KILLS_A_COPY = 40;
const MOST_SHOWN = 20;

const options = readCommandLine();
const startedAt = performance.now();
const report = (line: string) => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  process.stdout.write(`${seconds.padStart(4)} s  ${line}\n`);
};
const folder = realpathSync(await mkdtemp(join(tmpdir(), 'goondan-migration-')));
const cleanUps: Promise<void>[] = [];
for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
  process.once(signal, () => {
    cleanUps.push(cleanUp({ keepsFiles: false }).finally(() => process.exit(code)));
  });
}

try {
  const { conversations, kills, differences } = await torture(options);
  const isEqual = differences.length === 0;
  if (!isEqual) report(`The files are in ${folder}`);
  await cleanUp({ keepsFiles: !isEqual });
  report(`${conversations} conversations, ${kills} kills, ${differences.length} differences`);
  process.exit(isEqual ? 0 : 1);
} catch (error) {
  // After a signal the files are being removed, so the work fails. The process exits when they are gone.
  await Promise.all(cleanUps);
  const isSetup = error instanceof SetupError;
  process.stderr.write(isSetup ? `${error.message}\n` : `${Bun.inspect(error)}\nThe files are in ${folder}\n`);
  await cleanUp({ keepsFiles: !isSetup });
  process.exit(isSetup ? 3 : 1);
}

interface Result {
  readonly conversations: number;
  readonly kills: number;
  readonly differences: readonly string[];
}

async function torture({ conversations, kills: wanted, seed, old: clone }: Options): Promise<Result> {
  report(`Seed ${seed}`);
  const random = seededRandom(seed);
  const place = new Place(folder);
  const oldFolder = await makeOldVersion(clone === undefined ? place.path('old') : resolve(clone), report);
  const old = await loadVersion('old', oldFolder, place.bundle);
  report('Building this version');
  const current = await loadVersion('new', await buildThisVersion(), place.bundle);

  const root = place.path('root');
  const written = await writeRoot(old, place, root, conversations, report);
  const { agents, orchestrators } = written.kills;
  report(`Written by the old version, with ${agents} kills of agents and ${orchestrators} of the orchestrator`);
  const ledger = place.ledger();
  const before = await readRoot(old, place.copy(root, 'read'));
  const count = [...before.keys()].filter((command) => command.startsWith('history ')).length;
  report(`${count} conversations, ${before.size} commands of the old version`);

  const differences: string[] = [];
  const note = (what: string, found: readonly string[]) => {
    for (const each of found.slice(0, MOST_SHOWN)) report(`${what}: ${each}`);
    if (found.length > MOST_SHOWN) report(`${what}: … and ${found.length - MOST_SHOWN} more`);
    differences.push(...found);
  };
  const duration = await measureMigration(current, place, place.copy(root, 'measured'));
  report(`A migration takes ${Math.round(duration.migration)} ms`);
  let kills = 0;
  for (let copy = 1; kills < wanted; copy++) {
    const name = `copy ${copy}`;
    const stateRoot = place.copy(root, `copy-${copy}`);
    place.writeLedger(ledger);
    place.set('gate', true);
    place.set('poison', true);
    const most = Math.min(KILLS_A_COPY, wanted - kills);
    const killed = await killMigration(current, place, stateRoot, { most, duration, random });
    kills += killed.kills;
    report(`${name}: ${killed.kills} kills, ${killed.halfway} of them while a conversation was migrated`);
    note(`${name}, migrated`, compareShown(before, await readRoot(current, stateRoot)));
    note(`${name}, copied files`, compareFiles(root, stateRoot, isCopied));
    const kept = join(stateRoot, 'format-1');
    note(
      `${name}, kept files`,
      compareFiles(root, kept, () => true),
    );
    await killStart(current, place, stateRoot, { duration, random });
    note(`${name}, this version goes on`, await goOn(current, place, stateRoot, written, before));
    report(`${name}: compared, and gone on; ${differences.length} differences`);
    if (copy === 1) {
      note(`${name}, kept files`, compareShown(before, await readRoot(old, kept)));
      place.writeLedger(ledger);
      place.set('gate', true);
      place.set('poison', true);
      note(`${name}, the old version goes on`, await goOn(old, place, kept, written, before));
      report(`${name}: the old version has gone on with the kept files; ${differences.length} differences`);
    }
    if (differences.length === 0) await rm(stateRoot, { recursive: true, force: true });
  }
  return { conversations: count, kills, differences };
}

function readCommandLine(): Options {
  try {
    const read = readOptions(process.argv.slice(2));
    if (read !== 'help') return read;
    process.stdout.write(help);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exit(2);
  }
}

async function cleanUp({ keepsFiles }: { readonly keepsFiles: boolean }): Promise<void> {
  killGroups();
  await untilSwarmsGone();
  // Synchronous, so that commands of this process that still run write nothing meanwhile.
  if (!keepsFiles) rmSync(folder, { recursive: true, force: true });
}

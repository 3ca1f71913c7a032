/** Does the work of `gdn store import`. */
import { GoondanError } from '@goondan/types';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { interrupted } from '../interrupted.ts';
import { withStore } from '../instance/with-store.ts';
import { findWorkspaceIn } from '../swarm/find-workspace.ts';
import { filePlaceOf } from '../swarm/reach-swarm.ts';
import type { Terminal } from '../terminal.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { refuseOtherSwarm } from './refuse-other-swarm.ts';
import { noteImport } from './imported-note.ts';

export interface ImportedSwarm {
  readonly swarm: string;
  /** The name of the swarm in the store. */
  readonly key: string;
  readonly conversations: number;
  /** The conversations that the store had before. */
  readonly skipped: number;
  /** The conversations that differ from those of the store, and were not copied. */
  readonly newer: number;
  /** A text for each part that was not copied. */
  readonly problems: readonly string[];
}

/** The time between two lines about the progress. */
const EVERY_MS = 1_000;

/** **Errors** — `E_SWARM_UNKNOWN`, `E_SWARM_RUNNING`, `E_SWARM_TAKEN`, `E_CANCELLED`; those of the store and of the disk. */
export async function importFiles(
  cluster: ClusterAccess,
  options: BundleOptions & { readonly flock: boolean },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ImportedSwarm> {
  const { swarm, ...place } = await filePlaceOf(options);
  const { key } = await findWorkspaceIn(bundleFolder(undefined, options), swarm);
  const isThere = await withStore(place, false, async () => true);
  if (!isThere) {
    const message = `Swarm "${swarm}" has never run with the state root ${place.stateRoot}, so there is nothing to import.`;
    const suggestion = 'Name the state root with `--state-root`, if the swarm uses another one.';
    throw new GoondanError('E_SWARM_UNKNOWN', message, { suggestion });
  }
  const store = await cluster.open();
  await refuseOtherSwarm(
    store,
    { key, folder: bundleFolder(undefined, options), stateRoot: place.stateRoot },
    terminal,
  );
  try {
    const { imported, skipped, problems } = await store.importFiles({ ...place, flock: options.flock }, key, {
      signal,
      onProgress: showProgress(terminal),
      onWarning: (warning) => terminal.printError(`warn: ${warning}\n`),
    });
    noteImport(place, cluster.place);
    const newer = problems.filter(({ code }) => code === 'E_INSTANCE_EXISTS').length;
    return { swarm, key, conversations: imported, skipped, newer, problems: problems.map(describe) };
  } catch (error) {
    if (signal.aborted && error === signal.reason) {
      throw interrupted('The import was interrupted. What was copied stays; the same command goes on from there.');
    }
    if (!GoondanError.is(error) || error.code !== 'E_SWARM_RUNNING') throw error;
    const message = `The files of swarm "${swarm}" are in use: the swarm runs on them, or another import copies them. ${error.message}`;
    const suggestion =
      'Stop the swarm with `GOONDAN_STORE= gdn stop`, or wait until the other import has ended. Then type the command again.';
    throw new GoondanError(error.code, message, { suggestion, cause: error });
  }
}

function describe({ code, message }: GoondanError): string {
  return `${code}: ${message}`;
}

function showProgress({ showsProgress, printError }: Terminal) {
  let last = performance.now();
  return ({ imported, skipped, instances }: { imported: number; skipped: number; instances: number }) => {
    if (!showsProgress || performance.now() - last < EVERY_MS) return;
    last = performance.now();
    printError(`Copied ${imported + skipped} of ${instances} conversations.\n`);
  };
}

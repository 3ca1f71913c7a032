/** Reads the changesets of a workspace's swarm, which belong to the bundle that the swarm last ran from. */
import { openChangesets } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { findChangeset, listChangesets } from '../../changes/read-changesets.ts';
import { openReader, type SwarmPlace } from '../../swarm/swarm-place.ts';
import type { ChangesetView, ChangesetWithDiff } from '../contract.ts';
import type { StudioHost } from '../studio-host.ts';

/** The maximum number of changesets in the view of a workspace. */
const MOST_LISTED = 50;

/** Returns the newest changesets; none if they cannot be read, which is reported as a warning. */
export async function listOfWorkspace(place: SwarmPlace, warn: StudioHost['warn']): Promise<ChangesetView[]> {
  const run = await runOf(place);
  if (run === undefined) return [];
  try {
    const listed = await listChangesets(openChangesets({ ...run, warn }), run.swarm);
    return listed.slice(0, MOST_LISTED);
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    warn({ path: run.bundleFolder, message: error.message });
    return [];
  }
}

/** Returns one changeset with its diff. **Errors** — `E_CHANGESET_UNKNOWN`, those of reading. */
export async function viewOfWorkspace(
  place: SwarmPlace,
  id: string,
  warn: StudioHost['warn'],
): Promise<ChangesetWithDiff> {
  const run = await runOf(place);
  if (run === undefined) throw new GoondanError('E_CHANGESET_UNKNOWN', `There is no changeset "${id}".`);
  return findChangeset(openChangesets({ ...run, warn }), id, run.swarm);
}

async function runOf(place: SwarmPlace) {
  // The nodes of a swarm in a store have their changesets on their own machines.
  if (place.cluster !== undefined) return undefined;
  const { swarm, folder } = (await (await openReader(place)).directory.swarm()) ?? {};
  if (swarm === undefined || folder === undefined) return undefined;
  return { stateRoot: place.stateRoot, bundleFolder: folder, swarm };
}

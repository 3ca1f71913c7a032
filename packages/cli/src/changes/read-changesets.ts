/** Reads the changesets of a bundle from disk, whether or not its swarm runs and its files are valid. */
import { existsSync } from 'node:fs';
import { loadSwarms } from '@goondan/runtime/bundle';
import { type Changesets, describeFiles, openChangesets } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { readableStateRoot } from '../state-root.ts';
import { findSwarm } from '../swarm/find-swarm.ts';
import { type ChangesetView, type ChangesetWithDiff, viewChangeset } from './view-changeset.ts';

export interface ChangesOptions extends BundleOptions {
  readonly flock?: boolean;
}

/** Opens the changesets of the bundle that the options name. **Errors** — `E_BUNDLE_MISSING`, `E_STATE_ROOT`. */
export function changesetsOf(options: ChangesOptions, warn: (message: string) => void): Changesets {
  const folder = bundleFolder(undefined, options);
  if (!existsSync(folder)) throw new GoondanError('E_BUNDLE_MISSING', `There is no folder "${folder}".`);
  return openChangesets({
    stateRoot: readableStateRoot(options),
    bundleFolder: folder,
    ...(options.flock === false && { flock: false as const }),
    warn: ({ message }) => warn(message),
  });
}

/**
 * Throws if there is no swarm with the name of `--swarm`, or no bundle at all. Call it if no changeset was found.
 * **Errors** — `E_SWARM_UNKNOWN`, `E_BUNDLE_MISSING`, `E_BUNDLE_INVALID`.
 */
export async function refuseUnknown(options: ChangesOptions): Promise<void> {
  const folder = bundleFolder(undefined, options);
  const { swarm } = options;
  if (swarm !== undefined) await findSwarm({ stateRoot: readableStateRoot(options), folder, swarm });
  else await loadSwarms(folder);
}

/** Returns the changesets, newest first; with `--swarm`, those of that swarm only. */
export async function listChangesets(changesets: Changesets, swarm?: string): Promise<ChangesetView[]> {
  const name = swarm?.replace(/^Swarm\//, '');
  const records = await changesets.list();
  return records.filter((record) => name === undefined || record.swarm === name).map(viewChangeset);
}

/**
 * Finds a changeset by the beginning of its id, and reads its files. **Errors** — `E_CHANGESET_UNKNOWN`, also if several
 * ids begin like this.
 */
export async function findChangeset(changesets: Changesets, typed: string, swarm?: string): Promise<ChangesetWithDiff> {
  const known = await listChangesets(changesets, swarm);
  const fitting = known.filter(({ id }) => id.startsWith(typed));
  const found = known.find(({ id }) => id === typed) ?? fitting[0];
  if (found === undefined) throw new GoondanError('E_CHANGESET_UNKNOWN', `There is no changeset "${typed}".`);
  if (found.id !== typed && fitting.length > 1) throw severalFit(typed, fitting);
  return { ...found, files: await describeFiles(await changesets.compare(found.id)) };
}

/** The number of candidates in an error message. */
const MOST_NAMED = 5;

function severalFit(typed: string, fitting: readonly ChangesetView[]): GoondanError {
  const named = fitting.slice(0, MOST_NAMED).map(({ id }) => id);
  const more = fitting.length > MOST_NAMED ? `, and ${fitting.length - MOST_NAMED} more` : '';
  return new GoondanError('E_CHANGESET_UNKNOWN', `"${typed}" may be ${named.join(', ')}${more}.`, {
    suggestion: 'Type more of the id, as `gdn changes list` shows it.',
  });
}

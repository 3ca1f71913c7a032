/**
 * Finishes an interrupted commit or undo of a changeset, before a command looks at the bundle. The cost for a state root
 * without changesets is one `stat`.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { stateRoot } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import { type CommonOptions, stateRootChoice } from '../common-options.ts';
import { harmlessText } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';

/**
 * `no`: the command does not need the files, so it does not wait. `look`: the command only shows them; after the wait, a
 * warning is printed. `use`: the command runs or changes the bundle; after the wait, it fails.
 */
export type BundleUse = 'no' | 'look' | 'use';

export interface RecoverOptions extends CommonOptions {
  /** False if `--no-flock` was given. */
  readonly flock?: boolean;
}

/** **Errors**, only for `use` — `E_CHANGESET_BUSY` if another process goes on replacing files, and those of the disk. */
export async function recoverBundle(
  folder: string,
  use: BundleUse,
  options: RecoverOptions,
  terminal: Pick<Terminal, 'printError'>,
): Promise<void> {
  const root = stateRoot(stateRootChoice(options));
  if (!hasChangesets(root)) return;
  try {
    const { finishChanges } = await import('./finish-changes.ts');
    const place = { stateRoot: root, bundleFolder: folder, ...(options.flock === false && { flock: false as const }) };
    await finishChanges(place, use !== 'no', (line) => terminal.printError(`${line}\n`));
  } catch (error) {
    if (use === 'use' || !GoondanError.is(error)) throw error;
    if (use === 'no' && error.code === 'E_CHANGESET_BUSY') return;
    terminal.printError(`warn: ${harmlessText(error.message)} (${error.code})\n`);
  }
}

function hasChangesets(root: string): boolean {
  try {
    return statSync(join(root, 'changesets'), { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The command itself reports a state root that cannot be used.
    return false;
  }
}

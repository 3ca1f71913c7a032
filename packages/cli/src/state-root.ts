/**
 * The folder that stores all conversations. Its problems are reported here, before other code fails because of them.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { stateRoot } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import { type CommonOptions, stateRootChoice } from './common-options.ts';

/** Returns the state root, which is readable or does not exist yet. **Errors** — `E_STATE_ROOT`. */
export function readableStateRoot(options: CommonOptions): string {
  const root = stateRoot(stateRootChoice(options));
  check(root, constants.R_OK | constants.X_OK);
  return root;
}

/** Checks that the state root can be written or created. **Errors** — `E_STATE_ROOT`. */
export function checkStateRootWritable(root: string): void {
  check(root, constants.R_OK | constants.W_OK | constants.X_OK);
}

/** Checks the folder, or the nearest existing one above it. */
function check(root: string, needed: number, path = root): void {
  const found = statOf(root, path);
  if (found === undefined) {
    check(root, needed & ~constants.R_OK, dirname(path));
    return;
  }
  if (!found.isDirectory()) throw refuse(root, `"${path}" is a file, not a folder`);
  try {
    accessSync(path, needed);
  } catch {
    throw refuse(root, `you may not ${needed & constants.W_OK ? 'write to' : 'read'} "${path}"`);
  }
}

/** Returns undefined when the path does not exist. */
function statOf(root: string, path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A parent of the path is a file. The check of that parent reports the problem.
    if (code === 'ENOTDIR') return undefined;
    throw refuse(root, `"${path}" cannot be looked at (${code})`);
  }
}

function refuse(root: string, problem: string): GoondanError {
  return new GoondanError('E_STATE_ROOT', `Conversations cannot be kept in "${root}": ${problem}.`);
}

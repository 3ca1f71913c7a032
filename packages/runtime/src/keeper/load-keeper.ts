/** Loads a keeper's module. Every error names the extension and the reason. */
import { pathToFileURL } from 'node:url';
import { GoondanError, type Keep } from '@goondan/types';
import type { KeeperStart } from '../config/keeper-start.ts';
import { loadProblem } from '../config/load-problem.ts';
import { resolveEntry } from '../config/resolve-entry.ts';

/** Loads the module. Throws `E_EXT_LOAD`, `E_PATH_OUTSIDE`. */
export async function loadKeeper(source: Pick<KeeperStart, 'extension' | 'root' | 'entry'>): Promise<Keep> {
  const { extension, root, entry } = source;
  const file = await resolveEntry(root, entry, `Extension/${extension}: goondan.ai/keeper`);
  if (file === undefined) throw loadError(source, 'there is no such file');
  const module: unknown = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw loadError(source, loadProblem(error, root), error);
  });
  const keep: unknown = typeof module === 'object' && module !== null ? Reflect.get(module, 'keep') : undefined;
  if (typeof keep !== 'function') throw loadError(source, 'it exports no function named keep');
  // This is only known to be a function. Its parameters cannot be checked.
  return keep as Keep;
}

function loadError(
  { extension, entry }: Pick<KeeperStart, 'extension' | 'entry'>,
  problem: string,
  cause?: unknown,
): GoondanError {
  const message = `Extension/${extension}: its keeper "${entry}" cannot be loaded: ${problem}`;
  return new GoondanError('E_EXT_LOAD', message, { cause });
}

/** Loads the package that runs extensions for an older version of the API. Only a resource with `compat` needs it. */
import type { ExtensionRegister } from '@goondan/types';
import { findV010, notInstalled } from '../../bundle-imports/find-v010.ts';

/** Adapts the `register` of a module. */
export type AdaptRegister = (register: ExtensionRegister) => ExtensionRegister;

/** `root`: the folder of the bundle, which may have the package. **Errors** — `E_EXT_COMPAT` if it is not installed. */
export async function loadCompat(
  extension: string,
  root: string,
  find: typeof findV010 = findV010,
): Promise<AdaptRegister> {
  const file = find(root);
  if (file === undefined) throw notInstalled(`Extension/${extension} has compat: v010`);
  const { v010 }: { v010: AdaptRegister } = await import(Bun.pathToFileURL(file).href);
  return v010;
}

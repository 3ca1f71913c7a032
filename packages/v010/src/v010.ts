import type { ExtensionRegister, JsonObject } from '@goondan/types';
import { hangLayers } from './layers.ts';
import { Member } from './member.ts';
import { openOldApi } from './old-api.ts';
import type { OldRegister } from './old-types.ts';

/**
 * Turns the `register` of an extension for v0.10 into one for this version.
 *
 * **Rules** — the functions at the thirteen points run in the order of v0.10, for any number of old extensions of an
 * agent. The config is in `api.extension.spec.config`, and the second argument of `register`.
 * **Errors** — `E_EXT_COMPAT` for everything that does not exist any more, with its replacement.
 *
 * @example export const register = v010(oldRegister);
 */
// `never` accepts functions whose state has another type.
export function v010(oldRegister: OldRegister<never>): ExtensionRegister {
  return async (api, config: JsonObject, identity) => {
    const member = new Member(api, identity);
    await member.state.load();
    try {
      const cleanUp = await oldRegister(openOldApi(member, config) as never, config);
      if (member.entries.list.length > 0) hangLayers(member);
      member.join();
      return cleanUp;
    } finally {
      member.entries.close();
    }
  };
}

import type { ExtensionRegister, GoondanError, JsonObject } from '@goondan/types';
import { compatError } from './compat-error.ts';
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
export function v010<State = JsonObject>(oldRegister: OldRegister<State>): ExtensionRegister {
  const register: ExtensionRegister = async (api, config: JsonObject, identity) => {
    if (adapted in oldRegister) throw adaptedTwice(identity.name);
    const member = new Member(api, identity);
    await member.state.load();
    try {
      const cleanUp = await oldRegister(openOldApi<State>(member, config), config);
      if (member.entries.list.length > 0) hangLayers(member);
      member.join();
      return cleanUp;
    } finally {
      member.entries.close();
    }
  };
  return Object.assign(register, { [adapted]: true });
}

/** Marks the functions that `v010` returned, also those of another copy of this package. */
const adapted = Symbol.for('goondan.v010.adapted');

function adaptedTwice(extension: string): GoondanError {
  return compatError(
    extension,
    'is adapted twice',
    'Remove `compat: v010` from its resource, because its module exports `v010(register)`.',
  );
}

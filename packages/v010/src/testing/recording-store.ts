import type { ScriptedAgent } from '@goondan/runtime/testing';

type Store = ScriptedAgent['store'];
export type Records = Parameters<Store['append']>[3];

/** A store that notes the records of turns as they are written. */
export function recordingStore(store: Store): { readonly store: Store; readonly records: Records[number][] } {
  const records: Records[number][] = [];
  const recording: Store = {
    ...store,
    append(...given) {
      records.push(...given[3]);
      return store.append(...given);
    },
    commit(...given) {
      records.push(...(given[6]?.records ?? []));
      return store.commit(...given);
    },
  };
  return { store: recording, records };
}

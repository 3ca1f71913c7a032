/**
 * Plans a commit of extension states alone. It replaces `metadata.json` like every commit and changes nothing else of
 * the instance. It adds nothing to the version or the archive, so it is not part of the history. The log of an
 * interrupted turn stays as well.
 */
import type { JsonValue } from '@goondan/types';
import { checksum } from '../lines/checksum.ts';
import type { FileMark, InstanceMetadata } from '../records/metadata.ts';

export interface StatesPlan {
  readonly metadata: InstanceMetadata;
  /** All states after the commit, by extension name. */
  readonly extensions: ReadonlyMap<string, string>;
  /** Names of states that differ from the committed ones. */
  readonly changed: readonly string[];
  /** Names of extensions that no longer have a state. */
  readonly removed: readonly string[];
}

/** Plans the commit. Returns `undefined` when the new states equal the committed ones. */
export function planStates(
  before: InstanceMetadata,
  committed: ReadonlyMap<string, string>,
  states: Readonly<Record<string, JsonValue>>,
): StatesPlan | undefined {
  const plan = planExtensions(committed, states);
  const names = [...plan.changed, ...plan.removed];
  if (names.length === 0) return undefined;
  const { count, unarchived } = before.commit.statesAlone ?? { count: 0, unarchived: [] };
  const commit = {
    ...before.commit,
    extensions: marksOf(plan.extensions),
    statesAlone: { count: count + 1, unarchived: [...new Set([...unarchived, ...names])] },
  };
  return { ...plan, metadata: { ...before, commit } };
}

/** Plans the changes to the files of extension states. */
export function planExtensions(
  committed: ReadonlyMap<string, string>,
  states: Readonly<Record<string, JsonValue>>,
): Omit<StatesPlan, 'metadata'> {
  const extensions = new Map(Object.entries(states).map(([name, state]) => [name, JSON.stringify(state)]));
  return {
    extensions,
    changed: [...extensions.keys()].filter((name) => extensions.get(name) !== committed.get(name)),
    removed: [...committed.keys()].filter((name) => !extensions.has(name)),
  };
}

export function marksOf(extensions: ReadonlyMap<string, string>): Record<string, FileMark> {
  const markOf = (text: string): FileMark => ({ bytes: Buffer.byteLength(text), crc: checksum(text) });
  return Object.fromEntries(Array.from(extensions, ([name, text]) => [name, markOf(text)]));
}

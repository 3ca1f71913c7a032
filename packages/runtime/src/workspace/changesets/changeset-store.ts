/** Everything that the operations on the changesets of one bundle share. */
import type { Clock } from '../../ports/clock.ts';
import type { BundleFs } from '../../ports/bundle-fs.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ChangesetPaths } from '../layout/changeset-paths.ts';
import type { StoreWarning } from '../store-ports.ts';
import type { BundleTree } from './bundle-tree.ts';
import type { TakeLock } from './lock-bundle.ts';

export interface ChangesetStore {
  readonly fs: BundleFs;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly stateRoot: string;
  /** The real path of the bundle. */
  readonly bundleFolder: string;
  readonly paths: ChangesetPaths;
  readonly tree: BundleTree;
  readonly takeLock: TakeLock;
  readonly warn: (warning: StoreWarning) => void;
}

export const changesetLimits = {
  /** Files that one changeset edits. */
  files: 100,
  /** The size of one file, in bytes. */
  fileBytes: 1024 * 1024,
  openInBundle: 32,
  openInConversation: 8,
  /** Milliseconds until an open changeset expires. */
  openForMs: 24 * 60 * 60 * 1000,
  /** Ended changesets that are kept. */
  ended: 100,
  /** Paths that `files` returns. */
  listedFiles: 2000,
  /** Files and folders that `files` looks at. */
  listedEntries: 20_000,
  /** Files whose last read is remembered in a changeset. */
  reads: 200,
  /** Notes that a changeset keeps; the oldest are dropped. */
  notes: 20,
  /** Characters of a note; the rest is cut off. */
  noteCharacters: 1000,
  /** Milliseconds that an operation waits for the lock of the bundle. */
  lockWaitMs: 10_000,
} as const;

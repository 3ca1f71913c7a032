import { pathSegment } from './path-segment.ts';

/**
 * Returns the paths of the changesets of one bundle. They are under the state root and named after the real path of the
 * bundle, so that all swarms of a bundle share them.
 */
export function changesetPaths(stateRoot: string, bundleFolder: string) {
  const folder = `${stateRoot}/changesets/${pathSegment(bundleFolder)}`;
  const trials = `${folder}/trials`;
  return {
    folder,
    /** The file that stays locked while files of the bundle are replaced. Created once, and never renamed or removed. */
    lock: `${folder}/lock`,
    /** The folder of copies of the bundle. Each copy has a lock file beside it while it is in use. */
    trials,
    trial: (name: string) => `${trials}/${name}`,
    trialLock: (name: string) => `${trials}/${name}.lock`,
    changeset: (id: string) => `${folder}/${id}`,
    record: (id: string) => recordIn(`${folder}/${id}`),
    contents: (id: string) => contentsIn(`${folder}/${id}`),
    /** Returns the path of a content, named by its SHA-256. */
    content: (id: string, digest: string) => `${contentsIn(`${folder}/${id}`)}/${digest}`,
  };
}

export type ChangesetPaths = ReturnType<typeof changesetPaths>;

export function recordIn(changeset: string): string {
  return `${changeset}/record.json`;
}

export function contentsIn(changeset: string): string {
  return `${changeset}/content`;
}

/** Errors about changesets: changes that agents make to the bundle of their swarm. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const changesetErrors = {
  E_CHANGESET_BUSY: {
    forPrograms: true,
    meaning: 'Another process is replacing files of this bundle for a changeset.',
    suggestion:
      'Wait until the commit or the undo is over, then try again. If it stays busy, look for a stuck `gdn` process.',
  },
  E_CHANGESET_CONFLICT: {
    forPrograms: true,
    meaning:
      'A file of the changeset was edited meanwhile, so the changeset cannot be committed or undone. Nothing was changed.',
    suggestion:
      'To undo, restore the file that the message names, or change the bundle by hand and run `gdn reload`. An agent reads the file again, writes it again and commits again.',
  },
  E_CHANGESET_FILE: {
    meaning:
      'The path leads out of the bundle, is a link, is not a text file, or belongs to a file that no changeset may read or write.',
    suggestion: 'Use a path from the list that `bundle__open` returned, or the path of a new file inside the bundle.',
  },
  E_CHANGESET_LIMIT: {
    meaning: 'The changeset is too large, too many changesets are open, or too many requests about them are worked on.',
    suggestion: 'Write fewer and smaller files, or commit the change in several parts.',
  },
  E_CHANGESET_POLICY: {
    meaning: 'The policy of the swarm lets no agent change a file.',
    suggestion: 'Name the files that agents may change in `Swarm.spec.policy.changes.allow`, then run `gdn reload`.',
  },
  E_CHANGESET_REQUEST: {
    meaning: 'A process asked about a changeset outside of a turn, or with an id that is in use.',
    suggestion: 'Use `ctx.bundle` in the handler of a tool, and only while the handler runs.',
  },
  E_CHANGESET_SOURCE: {
    meaning: 'The swarm was not started from a folder with a `goondan.yaml`, so there are no files to change.',
    suggestion: 'Start the swarm from the folder of its bundle, with `gdn run` or `startSwarm({ bundleFolder })`.',
  },
  E_CHANGESET_STATE: {
    forPrograms: true,
    meaning:
      'The changeset is in the wrong state: only an open one can be written, committed or discarded, and only a committed one can be undone.',
    suggestion: 'See the state of each changeset with `gdn changes list`.',
  },
  E_CHANGESET_UNKNOWN: {
    forPrograms: true,
    meaning: 'There is no changeset with this id, it has expired, or it belongs to another conversation.',
    suggestion: 'List the changesets with `gdn changes list`.',
  },
} as const satisfies Record<string, CatalogueEntry>;

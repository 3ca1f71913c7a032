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
      'A file of the changeset was edited meanwhile, or the changeset is not in the right state, so it cannot be committed or undone. Nothing was changed.',
    suggestion:
      'To undo, restore the file that the message names, or change the bundle by hand and run `gdn reload`. To commit, open a new changeset.',
  },
  E_CHANGESET_FILE: {
    meaning:
      'The path leads out of the bundle, is a link, is not a text file, or belongs to a file that no changeset may read or write.',
    suggestion: 'Use a path from the list that `bundle__open` returned, or the path of a new file inside the bundle.',
  },
  E_CHANGESET_LIMIT: {
    meaning: 'The changeset is too large, too many changesets are open, or too many requests about them are worked on.',
    suggestion: 'Commit the open changesets, or wait until they expire. Write fewer and smaller files.',
  },
  E_CHANGESET_REQUEST: {
    meaning: 'A process asked about a changeset outside of a turn, or with an id that is in use.',
    suggestion: 'Use `ctx.bundle` in the handler of a tool, and only while the handler runs.',
  },
  E_CHANGESET_SOURCE: {
    meaning: 'The swarm was not started from a folder with a `goondan.yaml`, so there are no files to change.',
    suggestion: 'Start the swarm from the folder of its bundle, with `gdn run` or `startSwarm({ bundleFolder })`.',
  },
  E_CHANGESET_UNKNOWN: {
    forPrograms: true,
    meaning: 'There is no changeset with this id, it has expired, or it belongs to another conversation.',
    suggestion: 'List the changesets with `gdn changes list`, or open a new one with `bundle__open`.',
  },
} as const satisfies Record<string, CatalogueEntry>;

/** The codes of what goes wrong about conversations on disk. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const storeErrors = {
  E_DEAD_LETTER: {
    meaning: 'Handling this event crashed the agent again and again, so it was put aside.',
    suggestion: 'Find the cause of the crashes, then retry the event from the dead letters, or drop it.',
  },
  E_DISK_FULL: {
    meaning: 'The disk, or the quota, of the state folder is full; nothing half-written was kept.',
    suggestion: 'Free some space; what was accepted before is still there.',
  },
  E_FENCED: {
    meaning:
      'Another process took over this agent instance, or the folder of the workspace was removed or replaced, while this one was still writing.',
    suggestion: 'Nothing was overwritten. Let the newer process go on; stop a swarm before you remove its folder.',
  },
  E_HISTORY_RANGE: {
    meaning: 'A conversation has no such event or turn, or what it was at that moment is no longer kept.',
    suggestion: 'See which ones there are, with `gdn history`.',
  },
  E_INBOX_FULL: {
    meaning: 'The agent instance has too much input waiting, so this one was not accepted.',
    suggestion: 'Send it again later, or find out why the agent does not keep up.',
  },
  E_LOCKED: {
    meaning: 'Another running process is writing this agent instance.',
    suggestion: 'Stop the process the message names, or talk to the agent through it.',
  },
  E_OUTBOX_FULL: {
    meaning: 'The agent instance has as many undelivered answers as it may have.',
    suggestion: 'Find out why its answers are not fetched; no turn starts before some are.',
  },
  E_REPLAY_INCOMPLETE: {
    meaning: 'What was recorded of a turn, or of the conversation before it, is not enough to run it again.',
    suggestion:
      'Replay another turn: `gdn trace` lists the latest. Recording must be on (`policy.trace`) when a turn runs.',
  },
  E_REPLAY_UNFINISHED: {
    meaning: 'The turn that should be replayed has not ended.',
    suggestion: 'Wait until it has, then ask again. One that a crash interrupted goes on when its swarm runs.',
  },
  E_STATE_ROOT: {
    meaning: 'The state root, the folder in which conversations are kept, cannot be used.',
    suggestion:
      'Choose another folder with `--state-root` or `GOONDAN_STATE_ROOT`, or make this one readable and writable. It needs a file system with `flock`.',
  },
  E_STORE_CORRUPT: {
    meaning: 'A file of an agent instance is damaged in a way no crash explains. Nothing was changed.',
    suggestion:
      'Restore the file from a backup, then ask again; a copy of it as it is now is beside it. Without a backup, `gdn fork` ' +
      'goes on with the intact messages in a new conversation, and `gdn instance export` writes out what can be read. ' +
      'Both warn about everything that is missing.',
  },
  E_STORE_FORMAT: {
    meaning: 'The state of an agent instance was written in a format this version does not know.',
    suggestion: 'Use the version of Goondan that wrote it, or a newer one.',
  },
  E_STORE_INSTANCE: {
    meaning: 'The folder of an agent instance holds the state of another one.',
    suggestion: 'Somebody renamed or copied the folder: put it back under its own name, then ask again.',
  },
  E_STORE_ORDER: {
    meaning: 'A turn, or a record of one, was handed to the store out of its order.',
    suggestion: 'Handle the pending events in the order `pending` gives them, one turn at a time.',
  },
  E_STORE_READ: {
    meaning: 'A file of the state folder cannot be read.',
    suggestion: 'Look at the cause: permissions, or a failing disk. Nothing was changed.',
  },
  E_STORE_WRITE: {
    meaning: 'A file of the state folder cannot be written.',
    suggestion: 'Look at the cause: permissions, or a failing disk. What was accepted before is still there.',
  },
  E_TRACE_AMBIGUOUS: {
    meaning: 'The beginning of an id fits more than one recorded turn or trace.',
    suggestion: 'Type more of it. `gdn trace` lists the latest turns.',
  },
  E_TRACE_UNKNOWN: {
    meaning: 'Nothing is recorded of such a turn or trace: there was none, it is too old, or its recording was off.',
    suggestion: 'See which turns there are, with `gdn trace`.',
  },
  E_TURN_FORGOTTEN: {
    meaning: 'An event was handled, and how its turn ended is no longer kept.',
    suggestion: 'Do not send the event again: look at the conversation for the answer, or ask anew under another id.',
  },
} as const satisfies Record<string, CatalogueEntry>;

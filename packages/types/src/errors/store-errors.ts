/** The error codes of stored conversations. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const storeErrors = {
  E_BACKUP_BUSY: {
    forPrograms: true,
    meaning: 'Files changed during every attempt to copy them into a backup. Nothing is left of the backup.',
    suggestion: 'Type the command again, at a moment when the conversation has less to do.',
  },
  E_BACKUP_DAMAGED: {
    meaning: 'A file of the backup is damaged or missing. Nothing was restored.',
    suggestion: 'Copy the backup again from where it was made, or restore another one.',
  },
  E_BACKUP_FOLDER: {
    meaning: 'The folder cannot take a backup, or does not contain one.',
    suggestion:
      'For `gdn backup`, name a folder that is empty or does not exist. For `gdn restore`, name a complete backup.',
  },
  E_BACKUP_FORMAT: {
    meaning: 'The backup is in a format that this version of Goondan does not know. Nothing was restored.',
    suggestion: 'Restore the backup with the version of Goondan that made it.',
  },
  E_COUNTER_LIMIT: {
    forPrograms: true,
    meaning: 'The swarm counts too many things: counters of limits and budgets, or open reservations of one of them.',
    suggestion:
      'Delete conversations that have a budget of their own and are not needed any more, or give the budget a wider scope.',
  },
  E_DEAD_LETTER: {
    forPrograms: true,
    meaning: 'The agent or its node crashed each time it handled this event, so the event became a dead letter.',
    suggestion: 'Find the cause of the crashes. `gdn deadletter list` then shows how to retry the event, or drop it.',
  },
  E_DISK_FULL: {
    forPrograms: true,
    meaning: 'The disk or the quota of the state folder is full. No partial write was kept.',
    suggestion: 'Free some space. All inputs that were accepted earlier are kept.',
  },
  E_FENCED: {
    forPrograms: true,
    meaning:
      'Another process took over the agent instance while this process was writing, or the workspace folder or its `workspace.lock` was removed or replaced.',
    suggestion: 'Nothing was overwritten. Let the newer process continue; stop a swarm before you remove its folder.',
  },
  E_FILE_INVALID: {
    forPrograms: true,
    meaning: 'An image or a file of an input or of a message is malformed.',
    suggestion: 'Correct the part that the message names. Its bytes are base64, a data URL or a `Uint8Array`.',
  },
  E_FILE_SIZE: {
    forPrograms: true,
    meaning: 'A file, or all files of one input together, are too large.',
    suggestion: 'Send a smaller file, or raise `policy.maxFileBytes` of the swarm.',
  },
  E_FILE_UNKNOWN: {
    forPrograms: true,
    meaning: 'A reference names a file that is not stored.',
    suggestion: 'Send the file itself. A file is removed with the last conversation that names it.',
  },
  E_HISTORY_RANGE: {
    meaning: 'The conversation has no such event or turn, or its state at that moment is no longer kept.',
    suggestion: 'List the events and turns with `gdn history`.',
  },
  E_INBOX_FULL: {
    forPrograms: true,
    meaning: 'The agent instance has too many queued inputs, so this input was not accepted.',
    suggestion: 'Send the input again later, or find out why the agent does not keep up.',
  },
  E_LOCKED: {
    forPrograms: true,
    meaning: 'Another running process is writing this agent instance.',
    suggestion: 'Stop the process that the message names, or send your input to the swarm of that process.',
  },
  E_OUTBOX_FULL: {
    forPrograms: true,
    meaning: 'The agent instance has too many undelivered answers.',
    suggestion: 'Find out why the answers are not fetched. No turn starts until some of them are fetched.',
  },
  E_PROMPT_STEP: {
    forPrograms: true,
    meaning: 'The recorded turn has no step with this index.',
    suggestion:
      'Use one of the steps that the message names. `gdn trace` with the id of the turn shows what each of them did.',
  },
  E_PROMPT_UNRECORDED: {
    forPrograms: true,
    meaning:
      'The requests of the turn to its model were not recorded: the model is an object of a program that does not report them.',
    suggestion: 'Call `request.onSent` in `generate` of the model, then ask the agent again.',
  },
  E_REPLAY_INCOMPLETE: {
    meaning: 'The recording of this turn, or of the conversation before it, is too incomplete to replay.',
    suggestion:
      'Replay another turn: `gdn trace` lists the latest. Recording must be on (`policy.trace`) when a turn runs.',
  },
  E_REPLAY_UNFINISHED: {
    meaning: 'The turn to replay has not ended.',
    suggestion:
      'Wait for the turn to end, then replay it. A turn that a crash interrupted continues when its swarm runs.',
  },
  E_RESTORE_TARGET: {
    meaning:
      'The swarm that should take the backup has conversations already, or its inbox is damaged. Nothing was restored.',
    suggestion:
      'Choose another state root with `--state-root`. To replace the conversations, stop the swarm and move the folder that the message names to another place first.',
  },
  E_STATE_ROOT: {
    meaning: 'The state root, the folder for conversations, cannot be used.',
    suggestion:
      'Choose another folder with `--state-root` or `GOONDAN_STATE_ROOT`, or make this folder readable and writable. It must be on a file system with `flock`.',
  },
  E_STORE_CORRUPT: {
    meaning: 'A file of an agent instance is damaged, and a crash cannot be the cause. Nothing was changed.',
    suggestion:
      'Restore the file from a backup. If the swarm is running, then run `gdn restart`. A copy of the damaged file is beside it. Without a backup, `gdn fork` ' +
      'continues with the intact messages in a new conversation, and `gdn instance export` writes the readable part to a file. ' +
      'Both commands list everything that is missing.',
  },
  E_STORE_FORMAT: {
    meaning: 'The state root has files in a format that this version of Goondan does not know. Nothing was changed.',
    suggestion:
      'Use the version of Goondan that wrote the state root, or choose another folder with `--state-root` or `GOONDAN_STATE_ROOT`.',
  },
  E_STORE_INSTANCE: {
    meaning: 'The folder of an agent instance holds the state of another instance.',
    suggestion:
      'The folder was renamed or copied. Give it back its original name. If the swarm is running, then run `gdn restart`.',
  },
  E_STORE_ORDER: {
    meaning: 'A turn, or a record of a turn, reached the store out of order.',
    suggestion: 'Handle the pending events in the order that `pending` returns, one turn at a time.',
  },
  E_STORE_READ: {
    meaning: 'A file of the state folder, or of a bundle with changesets, cannot be read.',
    suggestion: 'Read the cause: usually permissions or a failing disk. Nothing was changed.',
  },
  E_STORE_WRITE: {
    meaning: 'A file of the state folder, or of a bundle with changesets, cannot be written.',
    suggestion:
      'Read the cause: usually permissions or a failing disk. All inputs that were accepted earlier are kept.',
  },
  E_TRACE_AMBIGUOUS: {
    forPrograms: true,
    meaning: 'More than one turn or trace has an id that begins like this.',
    suggestion: 'Type one of the ids in the message. `gdn trace` lists the latest turns.',
  },
  E_TRACE_UNKNOWN: {
    forPrograms: true,
    meaning: 'No such turn or trace is recorded: it never ran, it is too old, or recording was off.',
    suggestion: 'List the recorded turns with `gdn trace`.',
  },
  E_TURN_FORGOTTEN: {
    forPrograms: true,
    meaning: 'The event was handled, but the result of its turn is no longer kept.',
    suggestion: 'Do not send the event again. Find the answer in the conversation, or ask again under another id.',
  },
} as const satisfies Record<string, CatalogueEntry>;

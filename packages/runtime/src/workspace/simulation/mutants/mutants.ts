/**
 * Deliberate mistakes, as patches. Each mutant removes or reorders one thing that the journal does for a reason. The
 * simulation must catch every mutant. If a mutant survives, that reason has no test.
 */
import { inboxMutants } from './inbox-mutants.ts';

export interface Mutant {
  readonly name: string;
  /** The path relative to the folder `workspace`. */
  readonly file: string;
  /** The text to replace; it occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /**
   * The check that catches the mutant: `damage` (damaged files), `race` (two processes), `log file` (crashes of a log file alone) or
   * `steering` (crashes while turns take inputs); random crashes when absent.
   */
  readonly caughtBy?: 'damage' | 'race' | 'log file' | 'steering';
  /** A seed that catches the mutant. This seed is tried first; 0 when absent. */
  readonly seed?: number;
  /** If true, the mutant is caught fast enough to run with every test run. */
  readonly isQuick?: true;
}

export const mutants: readonly Mutant[] = [
  ...inboxMutants,
  {
    name: 'begin an effect before its intent is durable',
    file: 'journal/must-be-durable.ts',
    find: `if (record.type === 'intent') return !isRecorded(records, record.key);`,
    replace: `if (record.type === 'intent') return false;`,
    isQuick: true,
  },
  {
    name: 'acknowledge a commit before it is durable',
    file: 'journal/instance-writer.ts',
    find: 'this.#appendRecords(turnId, records, true, commit)',
    replace: 'this.#appendRecords(turnId, records, false, commit)',
    isQuick: true,
  },
  {
    name: 'acknowledge states before they are durable',
    file: 'journal/instance-writer.ts',
    find: 'await log.append({ at, commit }, [], true);',
    replace: 'await log.append({ at, commit }, [], false);',
  },
  {
    name: 'say that frames are durable which are not',
    file: 'journal/instance-log.ts',
    find: 'durable: this.#durable }',
    replace: 'durable: this.seq }',
    isQuick: true,
  },
  {
    name: 'begin a segment without a sync of its name',
    file: 'journal/instance-log.ts',
    find: `await fs.syncFolder(dirname(paths.events));
  }
}`,
    replace: `}
}`,
  },
  {
    name: 'put a full segment away without a sync of the name',
    file: 'journal/instance-log.ts',
    find: `await fs.syncFolder(dirname(paths.events));
    this.file`,
    replace: 'this.file',
  },
  {
    name: 'take a torn end for damage',
    file: 'records/read-frames.ts',
    find: 'if (end < bytes.length && isTorn',
    replace: 'if (end > bytes.length && isTorn',
    isQuick: true,
  },
  {
    name: 'take damage in the middle for a torn end',
    file: 'records/read-frames.ts',
    find: 'if (frame && (expected === undefined || frame.durable >= expected)) return true;',
    replace: '',
    caughtBy: 'damage',
  },
  {
    name: 'read frames with a gap between their numbers',
    file: 'records/read-frames.ts',
    find: 'if (expected !== undefined && frame.seq !== expected) {',
    replace: 'if (expected !== undefined && frame.seq < 0) {',
    caughtBy: 'damage',
  },
  {
    name: 'do not verify the checksum of a frame',
    file: 'records/frame.ts',
    find: `if (!seal || checksum(body) !== Number.parseInt(seal[1] ?? '', 16)) return undefined;`,
    replace: 'if (!seal) return undefined;',
    caughtBy: 'damage',
    isQuick: true,
  },
  {
    name: 'take a log that was cut off for a whole one',
    file: 'records/read-log.ts',
    find: `return isCurrent && !hasRoom ? 'its end is missing' : undefined;`,
    replace: 'return undefined;',
    caughtBy: 'damage',
  },
  {
    name: 'mix the records of two turns',
    file: 'records/gather-turns.ts',
    find: 'if (turnId !== this.turnId) this.clear();',
    replace: '',
    seed: 4,
  },
  {
    name: 'forget the answer of a commit',
    file: 'records/log-state.ts',
    find: 'if (turn && replyTo && answered) this.answers.set(turn.turnId, replyOf(turn, replyTo, answered));',
    replace: '',
    isQuick: true,
  },
  {
    name: 'forget that an answer was fetched',
    file: 'records/log-state.ts',
    find: 'for (const key of keys) this.answers.delete(key);',
    replace: '',
  },
  {
    name: 'forget the dead letter of a commit',
    file: 'records/log-state.ts',
    find: 'if (letter !== undefined) this.letters.set(letterKey(letter), letter);',
    replace: '',
    seed: 1,
  },
  {
    name: 'forget which input a commit handled',
    file: 'records/log-state.ts',
    find: 'this.inbox = inbox ?? this.inbox;',
    replace: '',
    isQuick: true,
  },
  {
    name: 'forget to count commits of states alone',
    file: 'records/log-state.ts',
    find: 'const count = this.statesAlone.count + (states && !isTurn ? 1 : 0);',
    replace: 'const { count } = this.statesAlone;',
  },
  {
    name: 'keep the state of an extension that was removed',
    file: 'records/log-state.ts',
    find: 'for (const name of states.removed) this.states.delete(name);',
    replace: '',
    seed: 5,
  },
  {
    name: 'leave states that were committed alone out of the history',
    file: 'journal/plan-commit.ts',
    find: 'isChanged(name) || also.includes(name)',
    replace: 'isChanged(name)',
    isQuick: true,
  },
  {
    name: 'count the events of a step that a crash cut off',
    file: 'records/voided-events.ts',
    find: 'if (isVoid) for (const event of unsealed) if (!survivors.includes(event)) voided.add(event);',
    replace: '',
    isQuick: true,
  },
  {
    name: 'void the survivors of a dropped step',
    file: 'records/voided-events.ts',
    find: 'if (!survivors.includes(event)) voided.add(event)',
    replace: 'voided.add(event)',
    seed: 5,
  },
  {
    name: 'let an input that comes back seal the events before it',
    file: 'records/voided-events.ts',
    find: `&& author.again !== true`,
    replace: '',
    seed: 1,
  },
  {
    name: 'append the messages of a turn that rewrote the base',
    file: 'records/fold-base.ts',
    find: 'return base === undefined ||',
    replace: `return base === undefined || base === 'rewrite' ||`,
  },
  {
    name: 'write a checkpoint before the base is synced',
    file: 'journal/checkpoint.ts',
    find: 'await file.sync();',
    replace: '',
  },
  {
    name: 'write behind a part of the base that a checkpoint left',
    file: 'journal/checkpoint.ts',
    find: 'if (file.size > offset) await file.truncate(offset);',
    replace: '',
  },
  {
    name: 'replace the base before the checkpoint',
    file: 'journal/checkpoint.ts',
    find: `await replaceFile(fs, paths.metadata, encodeMetadata(metadata));
  if (base.isNext) await putInPlace(fs, paths.base);`,
    replace: `if (base.isNext) await putInPlace(fs, paths.base);
  await replaceFile(fs, paths.metadata, encodeMetadata(metadata));`,
  },
  {
    name: 'count on the name of a new base without a sync',
    file: 'journal/checkpoint.ts',
    find: `await fs.syncFolder(paths.messages);
    return { mark: next, isNext: true };`,
    replace: 'return { mark: next, isNext: true };',
  },
  {
    name: 'count on the name of the first base without a sync',
    file: 'journal/checkpoint.ts',
    find: `await writeBase(stored, 0, bytes);
  await fs.syncFolder(paths.messages);`,
    replace: 'await writeBase(stored, 0, bytes);',
  },
  {
    name: 'write a checkpoint that hides an interrupted turn',
    file: 'journal/checkpoint-files.ts',
    find: 'if (isNews && state.open.turnId === undefined) await this.#checkpoint(texts, epoch);',
    replace: 'if (isNews) await this.#checkpoint(texts, epoch);',
  },
  {
    name: 'leave the next files of extensions where they are',
    file: 'journal/checkpoint.ts',
    find: 'await placeExtensions(stored, toRename);',
    replace: '',
    seed: 17,
  },
  {
    name: 'leave the next base where it is',
    file: 'journal/checkpoint.ts',
    find: `if (isNextBase) await putInPlace(fs, paths.base);
  else await fs.remove(nextOf(paths.base));`,
    replace: 'if (!isNextBase) await fs.remove(nextOf(paths.base));',
  },
  {
    name: 'count on the names of new extension files without a sync',
    file: 'records/extension-files.ts',
    find: `Buffer.from(texts.get(name) ?? ''))));
  await fs.syncFolder(paths.extensions);`,
    replace: `Buffer.from(texts.get(name) ?? ''))));`,
  },
  {
    name: 'rename before the new contents are synced',
    file: 'lines/replace-file.ts',
    find: 'await file.sync();',
    replace: '',
    isQuick: true,
  },
  {
    name: 'rename without a sync of the folder',
    file: 'lines/replace-file.ts',
    find: 'await fs.syncFolder(dirname(path));',
    replace: '',
    isQuick: true,
  },
  {
    name: 'say that the log is there before its name is synced',
    file: 'journal/create-instance.ts',
    find: 'await fs.syncFolder(folder);',
    replace: '',
  },
  {
    name: 'write frames into a log whose folder has no durable name',
    file: 'journal/create-instance.ts',
    find: 'await together([paths.folder, dirname(paths.folder)].map((each) => fs.syncFolder(each)));',
    replace: '',
    isQuick: true,
  },
  {
    name: 'close a log that has no checkpoint',
    file: 'journal/checkpoint-files.ts',
    find: 'if (!this.#hasCheckpoint) return undefined;',
    replace: '',
  },
  {
    name: 'believe names that a killed process had not synced',
    file: 'journal/load-instance.ts',
    find: 'await makeNamesDurable(stored);',
    replace: '',
    seed: 7,
  },
  {
    name: 'reset a conversation and keep the state of its extensions',
    file: 'journal/instance-writer.ts',
    find: 'planStates(this.#texts, {}, this.#state.statesAlone.unarchived)',
    replace: 'planStates(this.#texts, parseExtensions(this.#texts), this.#state.statesAlone.unarchived)',
    seed: 5,
  },
];

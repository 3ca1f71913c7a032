/**
 * Deliberate mistakes, as patches. Each mutant removes or reorders one thing that the journal does for a reason. The
 * simulation must catch every mutant. If a mutant survives, that reason has no test.
 */
export interface Mutant {
  readonly name: string;
  /** The path relative to the folder `workspace`. */
  readonly file: string;
  /** The text to replace; it occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /**
   * The check that catches the mutant: `damage` (damaged files) or `race` (two processes); random crashes when absent.
   */
  readonly caughtBy?: 'damage' | 'race';
  /** A seed that catches the mutant. This seed is tried first; 0 when absent. */
  readonly seed?: number;
  /** If true, the mutant is caught fast enough to run with every test run. */
  readonly isQuick?: true;
}

export const mutants: readonly Mutant[] = [
  {
    name: 'acknowledge an event before it is synced',
    file: 'inbox/inbox.ts',
    find: 'await this.#log.append(line);',
    replace: 'await this.#log.write(line);',
    isQuick: true,
  },
  {
    name: 'accept an event id a second time',
    file: 'inbox/inbox.ts',
    find: 'if (this.#known.has(event.id))',
    replace: 'if (this.#known.has(event.id) && this.#known.size === 0)',
    seed: 2,
    isQuick: true,
  },
  {
    name: 'forget handled ids when the inbox is compacted',
    file: 'inbox/inbox.ts',
    find: 'const handled = [...this.#head.handled, ...gone].slice(-limits.rememberedEvents);',
    replace: 'const handled = [...this.#head.handled, ...gone].slice(0, 0);',
    seed: 2,
    isQuick: true,
  },
  {
    name: 'take events out of the inbox before their commit is durable',
    file: 'inbox/inbox.ts',
    find: 'await this.stored.fs.syncFolder(this.stored.paths.folder);',
    replace: '',
    caughtBy: 'race',
  },
  {
    name: 'take what a killed process had accepted without a sync for durable',
    file: 'inbox/inbox.ts',
    find: 'await log.sync();',
    replace: '',
    seed: 13,
  },
  {
    name: 'forget to drain the inbox after a start',
    file: 'inbox/inbox-reader.ts',
    find: 'this.#entries = entriesOf(contents.lines);',
    replace: 'this.#entries = [];',
    isQuick: true,
  },
  {
    name: 'append records without a sync',
    file: 'journal/instance-writer.ts',
    find: 'await log.append(sealLines(records.map(({ text }) => text)));',
    replace: 'await log.write(sealLines(records.map(({ text }) => text)));',
    isQuick: true,
  },
  {
    name: 'put the dead letter away after the commit',
    file: 'journal/instance-writer.ts',
    find: `      if (result.error?.code === 'E_DEAD_LETTER' && entry) await this.#putLetter(entry.event, result.error.message);
      const turn = { turnId, log: this.#log, delta, extensionState, result, entry };
      const plan = planCommit(this.#metadata, this.#extensions, turn, this.stored.clock.now());
      await commitPlan(this.stored, plan);`,
    replace: `      const turn = { turnId, log: this.#log, delta, extensionState, result, entry };
      const plan = planCommit(this.#metadata, this.#extensions, turn, this.stored.clock.now());
      await commitPlan(this.stored, plan);
      if (result.error?.code === 'E_DEAD_LETTER' && entry) await this.#putLetter(entry.event, result.error.message);`,
    seed: 1,
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
    name: 'drop the events before the base is synced',
    file: 'journal/apply-commit.ts',
    find: 'await together([files.base.sync(), files.archive.sync()]);',
    replace: 'await together([files.archive.sync()]);',
  },
  {
    name: 'drop the events before the archive is synced',
    file: 'journal/apply-commit.ts',
    find: 'await together([files.base.sync(), files.archive.sync()]);',
    replace: 'await together([files.base.sync()]);',
    isQuick: true,
  },
  {
    name: 'drop the events first, then write the base',
    file: 'journal/apply-commit.ts',
    find: 'if (plan.isRewrite) await placeBase(stored, files);',
    replace: `await files.events.truncate(0);
  await files.turn.truncate(0);
  if (plan.isRewrite) await placeBase(stored, files);`,
    isQuick: true,
  },
  {
    name: 'put the state of extensions in place before the commit',
    file: 'journal/apply-commit.ts',
    find: 'await putInPlace(fs, paths.metadata);',
    replace: `await placeExtensions(stored, plan.changed, []);
  await putInPlace(fs, paths.metadata);`,
    seed: 4,
  },
  {
    name: 'count on the name of the new base without a sync',
    file: 'journal/apply-commit.ts',
    find: 'await fs.syncFolder(paths.messages);',
    replace: '',
  },
  {
    name: 'drop the log before the answer is in the outbox',
    file: 'journal/apply-commit.ts',
    find: 'await putReply();',
    replace: 'await files.events.truncate(0);\n  await files.turn.truncate(0);\n  await putReply();',
  },
  {
    name: 'count on the names of new extension files without a sync',
    file: 'records/extension-files.ts',
    find: "Buffer.from(texts.get(name) ?? ''))));\n  await fs.syncFolder(paths.extensions);",
    replace: "Buffer.from(texts.get(name) ?? ''))));",
  },
  {
    name: 'reuse the next file of an extension before its rename is durable',
    file: 'records/extension-files.ts',
    find: 'if (changed.length + removed.length > 0) await fs.syncFolder(paths.extensions);',
    replace: '',
    seed: 4,
  },
  {
    name: 'forget the state of extensions in the commit',
    file: 'journal/recover.ts',
    find: 'await placeExtensions(stored, found.extensions.toRename, []);',
    replace: '',
  },
  {
    name: 'believe what a killed process had written without a sync',
    file: 'journal/recover.ts',
    find: 'await together([files.events.sync(), files.turn.sync(), files.base.sync(), files.archive.sync()]);',
    replace: '',
    seed: 1,
  },
  {
    name: 'believe names that a killed process had not synced',
    file: 'journal/recover.ts',
    find: 'await together([paths.messages, paths.extensions, paths.folder].map((folder) => fs.syncFolder(folder)));',
    replace: '',
    seed: 7,
  },
  {
    name: 'skip the watermark: events of a committed turn count again',
    file: 'journal/recover.ts',
    find: 'mergeLog(eventRecords, turnRecords, logStart(commit))',
    replace: 'mergeLog(eventRecords, turnRecords, commit.previous.seq)',
    isQuick: true,
  },
  {
    name: 'give a turn up without a record of it',
    file: 'journal/instance-writer.ts',
    find: 'await this.#amendCommit({ discarded: logStart(this.#metadata.commit) + this.#log.length });',
    replace: '',
    seed: 3,
  },
  {
    name: 'redo the base behind a part of it that is already there',
    file: 'journal/recover.ts',
    find: 'await files.base.truncate(plan.from);',
    replace: '',
  },
  {
    name: 'forget to redo the archive',
    file: 'journal/recover.ts',
    find: 'if (texts.length > 0) await files.archive.current.write(sealLines(texts));',
    replace: '',
    isQuick: true,
  },
  {
    name: 'add the whole turn to the archive again',
    file: 'journal/recover.ts',
    find: 'archiveTexts(commit, committed, archive.last,',
    replace: 'archiveTexts(commit, committed, commit.previous.seq,',
  },
  {
    name: 'redo the archive without the states of extensions',
    file: 'journal/recover.ts',
    find: 'archive.last, extensions.texts)',
    replace: 'archive.last, new Map())',
    isQuick: true,
  },
  {
    name: 'forget the answer of a commit that was cut off',
    file: 'journal/recover.ts',
    find: 'await queues.putReply(commit, finished);',
    replace: '',
    seed: 1,
    isQuick: true,
  },
  {
    name: 'leave a torn tail and write behind it',
    file: 'lines/open-lines.ts',
    find: 'await log.truncate(read.end);',
    replace: '',
  },
  {
    name: 'take a hole in the last write for damage',
    file: 'lines/read-lines.ts',
    find: 'line.writeStart > bad',
    replace: 'line.start > bad',
  },
  {
    name: 'keep records after a missing one',
    file: 'journal/merge-log.ts',
    find: 'return { log, cutFrom: missing };',
    replace: 'return { log: records, cutFrom: missing };',
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
    name: 'compare only the size of the base',
    file: 'records/metadata.ts',
    find: 'return bytes.length === mark.bytes && checksum(bytes) === mark.crc;',
    replace: 'return bytes.length === mark.bytes;',
    seed: 1,
  },
  {
    name: 'put the archive away without a sync of the name',
    file: 'lines/rotating-log.ts',
    find: 'await this.fs.syncFolder(folder);\n    this.current =',
    replace: 'this.current =',
    seed: 31,
  },
  {
    name: 'forget how turns ended when the archive is put away',
    file: 'archive/read-tail.ts',
    find: ' || (left > 0 && finished.size < turns)',
    replace: '',
    seed: 125,
  },
  {
    name: 'make the folder of an instance without a sync of its name',
    file: 'journal/instance-slot.ts',
    find: 'await fs.syncFolder(dirname(paths.folder));',
    replace: '',
    isQuick: true,
  },
  {
    name: 'say that the files are there before their names are synced',
    file: 'journal/create-instance.ts',
    find: 'await fs.syncFolder(paths.messages);\n  await fs.syncFolder(paths.folder);',
    replace: '',
    seed: 1,
    isQuick: true,
  },
  {
    name: 'reset a conversation and keep the log of its interrupted turn',
    file: 'journal/plan-reset.ts',
    find: 'const after = logStart(before.commit) + openRecords;',
    replace: 'const after = logStart(before.commit);',
    seed: 4,
    isQuick: true,
  },
  {
    name: 'give the interrupted turn up before the reset is committed',
    file: 'journal/instance-writer.ts',
    find: 'const plan = planReset(',
    replace: 'if (this.#log[0]) await this.#discardLog(this.#log[0].turnId);\n      const plan = planReset(',
    seed: 5,
  },
  {
    name: 'reset a conversation and keep the state of its extensions',
    file: 'journal/plan-reset.ts',
    find: 'extensionState: {},',
    replace: 'extensionState: Object.fromEntries([...extensions].map(([name, text]) => [name, JSON.parse(text)])),',
    seed: 5,
  },
  {
    name: 'forget a reset that was cut off',
    file: 'records/committed-log.ts',
    find: 'return resetLog(commit.turn);',
    replace: 'return [];',
    isQuick: true,
  },
  {
    name: 'do not wake an instance whose reset was cut off',
    file: 'journal/has-work.ts',
    find: "result === 'reset' ||",
    replace: '',
    seed: 14,
  },
  {
    name: 'leave states that were committed alone out of the archive',
    file: 'journal/plan-commit.ts',
    find: 'const earlier = statesAlone?.unarchived ?? [];',
    replace: 'const earlier: string[] = statesAlone ? [] : [];',
    isQuick: true,
  },
  {
    name: 'commit states alone and leave the next files where they are',
    file: 'journal/instance-writer.ts',
    find: 'await this.#apply(() => placeExtensions(this.stored, plan.changed, plan.removed));',
    replace: '',
  },
  {
    name: 'do not verify the checksum of a line',
    file: 'lines/read-lines.ts',
    find: 'if (checksum(bytes.subarray(0, bodyLength)) !== Number.parseInt(seal.slice(8, 16), 16)) return undefined;',
    replace: '',
    caughtBy: 'damage',
    isQuick: true,
  },
];

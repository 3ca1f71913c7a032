/** Deliberate mistakes in the inbox log. */
import type { Mutant } from './mutants.ts';

export const inboxMutants: readonly Mutant[] = [
  {
    name: 'acknowledge an event before it is synced',
    file: 'inbox/inbox-log.ts',
    find: 'await this.file?.writeDurably(Buffer.from(text));',
    replace: 'await this.file?.write(Buffer.from(text));',
    isQuick: true,
  },
  {
    name: 'accept an event id a second time',
    file: 'inbox/open-inbox.ts',
    find: 'if (used.handled.has(event.id)) return',
    replace: 'if (used.handled.has(event.id) && used.handled.size === 0) return',
    seed: 2,
    isQuick: true,
  },
  {
    name: 'forget the ids of handled events',
    file: 'inbox/used-inboxes.ts',
    find: 'used.handled.add(ids);',
    replace: '',
    seed: 2,
    isQuick: true,
  },
  {
    name: 'take events out of the inbox before their commit is durable',
    file: 'inbox/open-inbox.ts',
    find: 'await syncCommits(stored);',
    replace: '',
    caughtBy: 'race',
  },
  {
    name: 'forget to drain the inbox after a start',
    file: 'inbox/read-inbox-log.ts',
    find: 'for (const line of read.lines) this.#addLine(line, segment.number);',
    replace: '',
    isQuick: true,
  },
  {
    name: 'remove a segment of the inbox before its copy is durable',
    file: 'inbox/inbox-log.ts',
    find: `await this.#begin(plan);
    for (const { path } of plan.dropped) await removeSegment(this.place, path);`,
    replace: `for (const { path } of plan.dropped) await removeSegment(this.place, path);
    await this.#begin(plan);`,
    isQuick: true,
  },
  {
    name: 'remove segments without saying so in the next one',
    file: 'inbox/inbox-log.ts',
    find: 'first: Math.min(first, number)',
    replace: 'first: 1',
    isQuick: true,
  },
  {
    name: 'note more input as handled than there is',
    file: 'inbox/open-inbox.ts',
    find: 'this.log.note(used.inbox.address, used.inbox.handled);',
    replace: 'this.log.note(used.inbox.address, used.inbox.handled + 1);',
  },
  {
    name: 'skip a damaged line of the inbox silently',
    file: 'inbox/instance-inbox.ts',
    find: `lose(seq: number, place: DamagedPlace): void {
    this.reach(seq);`,
    replace: `lose(seq: number, place: DamagedPlace): void {
    if (place.segment > 0) return;`,
    caughtBy: 'damage',
  },
  {
    name: 'skip a line of the inbox that nobody names silently',
    file: 'inbox/read-inbox-log.ts',
    find: 'if (read.unnamed > 0 && !this.isClosed)',
    replace: 'if (read.unnamed > 1000 && !this.isClosed)',
    caughtBy: 'damage',
  },
];

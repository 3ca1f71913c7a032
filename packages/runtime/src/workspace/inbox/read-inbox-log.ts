/**
 * Reads the inbox log into the inboxes of its instances. It takes no lock and changes nothing.
 *
 * A damaged line concerns only the instance it names. If a line of a full segment has no name any more, the table at the
 * end of the segment says whose numbers have a gap. Only if that is damaged too, or in the newest segment, nobody knows
 * whose input is lost: then no instance starts, because acknowledged input must not be skipped silently.
 */
import type { AgentAddress } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import { checksum } from '../lines/checksum.ts';
import type { InboxLine, LineName } from './inbox-line.ts';
import { type InboxSegment, listInboxSegments, segmentPath } from './inbox-segments.ts';
import { InstanceInbox } from './instance-inbox.ts';
import { type ReadSegment, readSegment } from './read-segment.ts';

export interface InboxDamage {
  readonly path: string;
  readonly problem: string;
  /** True if there is no such file. */
  readonly isMissing?: boolean;
}

export interface ReadInboxSegment extends InboxSegment {
  readonly bytes: number;
  readonly isDamaged: boolean;
  /** The checksum of a damaged file. */
  readonly sum?: number;
}

export class InboxContents {
  readonly inboxes = new Map<string, InstanceInbox>();
  /** The segments that count, oldest first, each with its size. */
  readonly segments: ReadInboxSegment[] = [];
  /** Segments that a compaction has replaced and not removed yet. */
  readonly replaced: InboxSegment[] = [];
  /** Damage of which nobody knows whom it concerns, with the place in the log after which the log is whole. */
  lost: (InboxDamage & { readonly n: number }) | undefined;
  /** All damage, of files that are in use. */
  readonly damage: InboxDamage[] = [];
  /** The newest segment, as it was read. */
  current: ReadSegment | undefined;
  /** The number of the last line, and its name. */
  n = 0;
  before: LineName | undefined;
  isClosed = false;

  /** `segment`: the segment that has, or will have, something about the instance. */
  inboxOf(address: AgentAddress, segment: number): InstanceInbox {
    const key = keyOf(address);
    const found = this.inboxes.get(key) ?? new InstanceInbox(address);
    found.seenIn = Math.max(found.seenIn, segment);
    this.inboxes.set(key, found);
    return found;
  }

  /** Forgets idle instances of which no segment from `first` on has anything. `isUsed`: true for those to keep. */
  forgetIdle(first: number, isUsed: (key: string) => boolean): void {
    for (const [key, inbox] of this.inboxes)
      if (inbox.isIdle && inbox.seenIn < first && !isUsed(key)) this.inboxes.delete(key);
  }

  /** Adds the lines of a segment, or its lines since the last read. */
  add(segment: InboxSegment, read: ReadSegment): void {
    for (const line of read.lines) this.#addLine(line, segment.number);
    for (const { name } of read.damaged)
      if (name) this.inboxOf(name.to, segment.number).lose(name.seq, { segment: segment.number, path: segment.path });
    this.current = read;
    this.n = read.next - 1;
    if (read.damage === undefined) return;
    this.damage.push({ path: segment.path, problem: read.damage });
    if (read.unnamed > 0 && !this.isClosed) this.lose({ path: segment.path, problem: read.damage });
  }

  /** Notes the lines that are missing although nothing says that they were damaged. */
  loseMissing(): void {
    const newest = this.segments.at(-1)?.number ?? 0;
    for (const inbox of this.inboxes.values()) inbox.loseMissing(newest);
  }

  lose(damage: InboxDamage): void {
    this.lost = { ...damage, n: this.n };
  }

  #addLine(line: InboxLine, segment: number): void {
    this.n = line.n;
    this.isClosed = false;
    this.before = 'note' in line ? undefined : { to: line.to, seq: line.seq };
    if (!('note' in line)) {
      const inbox = this.inboxOf(line.to, segment);
      inbox.take(line.handled ?? 0);
      inbox.add(line.seq, { payload: line.payload, segment, bytes: line.size }, line.n);
      return;
    }
    const { note } = line;
    if ('handled' in note)
      for (const [agentName, instanceKey, seq] of note.handled)
        this.inboxOf({ agentName, instanceKey }, segment).take(seq);
    if (!('closes' in note)) return;
    this.isClosed = true;
    for (const [agentName, instanceKey, seq] of note.last) {
      this.inboxOf({ agentName, instanceKey }, segment).reach(seq);
    }
  }
}

const ATTEMPTS = 5;
const HEADLESS = 'its beginning is damaged, or is that of another file';
const NEWLINE = 0x0a;

/**
 * Reads the log. `ownsLog`: true for the process that writes the log, so that it does not change meanwhile. `mayBeTorn`: if
 * false, the end of the log is damaged where it looks as if a crash had left it.
 */
export async function readInboxLog(
  fs: Fs,
  folder: string,
  ownsLog: boolean,
  { mayBeTorn = true } = {},
): Promise<InboxContents> {
  let before: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const contents = await readOnce(fs, folder, mayBeTorn);
    // The owner may have removed a segment or written a line between the reads.
    const damage = JSON.stringify([contents.damage, contents.n]);
    if (contents.damage.length === 0 || ownsLog || attempt >= ATTEMPTS || damage === before) return contents;
    before = damage;
  }
}

/** Returns true if the log has the same segments as when it was read, and the damaged ones have the same bytes. */
export async function isUnchanged(fs: Fs, folder: string, { segments, replaced }: InboxContents): Promise<boolean> {
  const known = new Set([...segments, ...replaced].map(({ number }) => number));
  const found = await listInboxSegments(fs, folder);
  const numbers = new Set(found.map(({ number }) => number));
  if (found.some(({ number }) => !known.has(number)) || segments.some(({ number }) => !numbers.has(number)))
    return false;
  for (const { path, sum } of segments)
    if (sum !== undefined && checksum((await fs.read(path)) ?? new Uint8Array()) !== sum) return false;
  return true;
}

async function readOnce(fs: Fs, folder: string, mayBeTorn: boolean): Promise<InboxContents> {
  const contents = new InboxContents();
  const all = await listInboxSegments(fs, folder);
  const found: FoundSegment[] = [];
  for (const segment of all) found.push(foundOf(segment, await fs.read(segment.path)));
  const first = Math.max(1, ...found.map(({ head }) => head?.first ?? 0));
  contents.replaced.push(...found.filter(({ number }) => number < first));
  const used = found.filter(({ number }) => number >= first);
  for (const [index, segment] of used.entries()) {
    const { number, path, bytes } = segment;
    const following = used[index + 1];
    const previous = contents.segments.at(-1);
    const next = previous ? contents.n + 1 : segment.head?.from;
    const until = following && (following.head ? following.head.from - 1 : lastNumber(bytes, next));
    const read = readSegment(bytes ?? new Uint8Array(), { next, until, mayBeTorn });
    // The damage is before the lines of this segment, so a deletion in this segment gives up the input that is missing.
    if (number !== (previous ? previous.number + 1 : first)) miss(contents, segmentPath(folder, number - 1));
    if (segment.head === undefined) {
      contents.damage.push({ path, problem: HEADLESS });
      contents.lose({ path, problem: HEADLESS });
    }
    contents.add(segment, read);
    if (!following && read.hasSuccessor && segment.head) miss(contents, segmentPath(folder, number + 1));
    const isDamaged = read.damage !== undefined || segment.head === undefined;
    contents.segments.push({
      number,
      path,
      bytes: bytes?.length ?? 0,
      isDamaged,
      ...(isDamaged && { sum: checksum(bytes ?? new Uint8Array()) }),
    });
  }
  contents.loseMissing();
  return contents;
}

interface FoundSegment extends InboxSegment {
  readonly bytes: Uint8Array | undefined;
  readonly head: { readonly from: number; readonly first: number } | undefined;
}

/**
 * Reads the head of a segment, or its copy on the second line. A segment gets its name when its head is durable, so without
 * a head it is damaged. The head of another segment does not count: then the file was overwritten.
 */
function foundOf(segment: InboxSegment, bytes: Uint8Array = new Uint8Array()): FoundSegment {
  // A changed byte may be a line break, so three lines have one of the two heads. A line may have any length.
  let end = 0;
  for (let line = 1; line <= 3 && end < bytes.length; line += 1) end = bytes.indexOf(NEWLINE, end) + 1 || bytes.length;
  const { lines } = readSegment(bytes.subarray(0, end), { until: Number.MAX_SAFE_INTEGER });
  const heads = lines.flatMap((line) => ('note' in line && 'first' in line.note ? [line.note] : []));
  return { ...segment, bytes, head: heads.find((head) => head.segment === segment.number) };
}

/** Returns the number of the last line of a segment whose successor cannot say it. Only a closing line is the last one. */
function lastNumber(bytes: Uint8Array = new Uint8Array(), next = 1): number {
  const last = readSegment(bytes, { next, until: Number.MAX_SAFE_INTEGER }).lines.at(-1);
  if (!last) return next;
  return 'note' in last && 'closes' in last.note ? last.n : last.n + 1;
}

function miss(contents: InboxContents, path: string): void {
  const missing = { path, problem: 'the file is missing' };
  contents.damage.push(missing);
  contents.lose({ ...missing, isMissing: true });
}

/** Returns a different key for each address. */
export function keyOf({ agentName, instanceKey }: AgentAddress): string {
  // The length separates the names, whatever characters they have. A JSON text would cost every turn several times as much.
  return `${agentName.length}:${agentName}${instanceKey}`;
}

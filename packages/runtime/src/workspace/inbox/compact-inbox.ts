/**
 * Decides which segments of the inbox log are removed when a new one begins, and which lines are copied to it.
 *
 * 1. A segment without pending lines is removed. 2. Pending lines are copied only when the log is more than twice as long
 * as all pending lines together, so copying costs no more than accepting. 3. The log of an instance decides whether an
 * event is handled. All input waits meanwhile, so only a few logs are read. 4. If the input of a deleted instance must not
 * stay, all segments are removed. 5. Damage is copied too: a `lost` line keeps the numbers of damaged lines.
 */
import type { NewLine } from './inbox-line.ts';
import type { Compaction, CopiedLines } from './inbox-log.ts';
import type { InboxSegment } from './inbox-segments.ts';
import type { InstanceInbox } from './instance-inbox.ts';

export interface SizedSegment extends InboxSegment {
  readonly bytes: number;
  readonly isDamaged: boolean;
}

export interface CompactionInput {
  /** All segments, oldest first. The last one is full. */
  readonly segments: readonly SizedSegment[];
  readonly inboxes: Iterable<InstanceInbox>;
  /** The size up to which a log is short. */
  readonly short: number;
  /** True if all segments must be removed. */
  readonly isWhole: boolean;
  /** Reads the log of an instance, and takes out the lines whose commits are durable. Does not reject. */
  readonly refresh: (inbox: InstanceInbox) => Promise<void>;
  /** Keeps a copy of a damaged segment. */
  readonly keepAside: (segment: SizedSegment) => Promise<void>;
}

/** The most logs of instances that are read for one plan. The other instances have their turn at the next one. */
const MOST_READ = 16;

export async function planCompaction(input: CompactionInput): Promise<Compaction> {
  const { segments, short, isWhole } = input;
  const boxes = [...input.inboxes].filter(({ lines, damaged }) => lines.size + damaged.size > 0);
  const current = segments.at(-1)?.number ?? 0;
  const dropped: SizedSegment[] = [];
  const moved: InstanceInbox[] = [];
  let reads = 0;
  for (const [index, segment] of segments.entries()) {
    const here = boxes.filter((box) => isIn(box, segment));
    for (const box of here.toSorted((one, other) => one.askedAt - other.askedAt)) {
      if (box.askedAt === current || reads === MOST_READ) break;
      reads += 1;
      box.askedAt = current;
      await input.refresh(box);
    }
    const still = here.filter((box) => isIn(box, segment));
    if (still.length > 0 && !isWhole && !isLong(segments.slice(index), boxes, short)) break;
    if (segment.isDamaged) await input.keepAside(segment);
    dropped.push(segment);
    moved.push(...still);
  }
  const numbers = new Set(dropped.map(({ number }) => number));
  return {
    dropped,
    first: (dropped.at(-1)?.number ?? (segments[0]?.number ?? 1) - 1) + 1,
    ...copyLines(new Set(moved), numbers),
    last: boxes.flatMap((box) => lastIn(box, current)),
  };
}

/** Returns the pending and the damaged lines of these segments, for a new segment. */
export function copyLines(boxes: Iterable<InstanceInbox>, numbers: ReadonlySet<number>): CopiedLines {
  const all = [...boxes];
  return {
    lines: all.flatMap((box) => linesOf(box, numbers)),
    moved: (number) => {
      for (const box of all) box.move(numbers, number);
    },
  };
}

/** Returns true if the instance has pending or damaged lines in the segment. */
function isIn({ lines, damaged }: InstanceInbox, { number }: SizedSegment): boolean {
  for (const { segment } of lines.values()) if (segment === number) return true;
  for (const { segment } of damaged.values()) if (segment === number) return true;
  return false;
}

function isLong(segments: readonly SizedSegment[], boxes: readonly InstanceInbox[], short: number): boolean {
  const size = segments.reduce((sum, { bytes }) => sum + bytes, 0);
  const pending = boxes.reduce((sum, { bytes }) => sum + bytes, 0);
  return size > 2 * pending + 2 * short;
}

function linesOf(box: InstanceInbox, numbers: ReadonlySet<number>): NewLine[] {
  const to = box.address;
  // The first line says which numbers are not needed any more.
  const handled = box.handled || undefined;
  const lost = [...box.damaged].flatMap(([seq, { segment }]) => (numbers.has(segment) ? [seq] : []));
  const lines = box.sorted().filter(([, { segment }]) => numbers.has(segment));
  return [
    ...lines.map(([seq, { payload }]) => ({ to, seq, payload, handled })),
    ...(lost.length === 0 ? [] : [{ to, seq: Math.max(...lost), payload: { lost }, handled }]),
  ];
}

function lastIn({ address, lines }: InstanceInbox, segment: number): (readonly [string, string, number])[] {
  let last = 0;
  for (const [seq, line] of lines) if (line.segment === segment) last = Math.max(last, seq);
  return last === 0 ? [] : [[address.agentName, address.instanceKey, last]];
}

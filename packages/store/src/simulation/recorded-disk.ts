/**
 * The writes of a program to its database and WAL, as `strace` saw them, and the disks that a loss of power could leave:
 * what was synced is there, and of every other write any sectors.
 */

type Name = 'database' | 'log';

export type DiskEvent =
  | { readonly kind: 'write'; readonly name: Name; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'cut'; readonly name: Name; readonly size: number }
  /** A sync that ended here covers everything before the event with the number `began`. */
  | { readonly kind: 'synced'; readonly name: Name; readonly began: number }
  | { readonly kind: 'told'; readonly text: string };

/** The arguments for `strace`, before the file of its output. */
export const straceArguments = [
  '-f',
  '-y',
  '-xx',
  '-s',
  '100000000',
  '-e',
  'trace=pwrite64,write,fdatasync,fsync,ftruncate',
  '-o',
];

export function readTrace(trace: string): readonly DiskEvent[] {
  const events: DiskEvent[] = [];
  /** The calls that are under way, by process. */
  const open = new Map<string, { readonly text: string; readonly began: number }>();
  for (const line of trace.split('\n')) {
    const [, process = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text);
    const begun = resumed ? open.get(process) : { text, began: events.length };
    if (begun === undefined) continue;
    if (text.endsWith('<unfinished ...>')) {
      open.set(process, { text: text.slice(0, -' <unfinished ...>'.length), began: events.length });
      continue;
    }
    const event = readCall(begun.text + (resumed?.[1] ?? ''), begun.began);
    if (event) events.push(event);
  }
  return events;
}

function readCall(text: string, began: number): DiskEvent | undefined {
  const [, call = '', descriptor = '', file = '', rest = ''] = /^(\w+)\((\d+)<([^>]*)>(.*)$/.exec(text) ?? [];
  if (call === 'write') return descriptor === '1' ? { kind: 'told', text: bytesOf(rest).toString() } : undefined;
  const path = decode(file).toString();
  const name = path.endsWith('.db') ? 'database' : path.endsWith('.db-wal') ? 'log' : undefined;
  if (name === undefined) return undefined;
  if (call === 'ftruncate') return { kind: 'cut', name, size: Number(/, (\d+)\)/.exec(rest)?.[1]) };
  if (call !== 'pwrite64') return { kind: 'synced', name, began };
  return { kind: 'write', name, offset: Number(/, \d+, (\d+)\)/.exec(rest)?.[1]), bytes: bytesOf(rest) };
}

/** The bytes in arguments such as `, "\x41\x42", 2`. */
function bytesOf(rest: string): Buffer {
  const from = rest.indexOf('"') + 1;
  return decode(rest.slice(from, rest.indexOf('"', from)));
}

function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

const SECTOR = 512;

/**
 * Makes the files that a loss of power after the first `length` events could leave. `keeps` decides about each sector that
 * was not synced. `ignored`: the file whose syncs do nothing, as a mutant.
 */
export function cutPower(
  events: readonly DiskEvent[],
  length: number,
  keeps: () => boolean,
  ignored?: Name,
): Readonly<Record<Name, Uint8Array>> {
  const past = events.slice(0, length);
  const disk = (name: Name) => {
    const synced = name === ignored ? [] : past.filter((event) => event.kind === 'synced' && event.name === name);
    const durable = Math.max(0, ...synced.map((event) => (event.kind === 'synced' ? event.began : 0)));
    const file = new GrowingFile();
    for (const [number, event] of past.entries()) {
      if (event.kind === 'told' || event.name !== name) continue;
      const isSafe = number < durable;
      if (event.kind === 'cut' && (isSafe || keeps())) file.cut(event.size);
      if (event.kind === 'write') file.write(event.offset, event.bytes, isSafe ? () => true : keeps);
    }
    return file.bytes;
  };
  return { database: disk('database'), log: disk('log') };
}

class GrowingFile {
  #bytes = new Uint8Array(1024 * 1024);
  #size = 0;

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  cut(size: number): void {
    this.#bytes.fill(0, size);
    this.#size = Math.min(this.#size, size);
  }

  write(offset: number, bytes: Uint8Array, keeps: () => boolean): void {
    this.#size = Math.max(this.#size, offset + bytes.length);
    if (this.#size > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#size);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    for (let at = 0; at < bytes.length; at += SECTOR) {
      if (keeps()) this.#bytes.set(bytes.subarray(at, at + SECTOR), offset + at);
    }
  }
}

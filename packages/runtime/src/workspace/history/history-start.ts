/**
 * The start of the kept history. Until an archive file is deleted, the start is the empty conversation. After that, the
 * start is stored in `history-start.jsonl`: the conversation after the deleted turns, the number of the deleted events,
 * and the author of each message.
 *
 * Invariant: before an archive file is deleted, its changes are durable in this file. So the numbers of events never
 * change, and the conversation can be read at every kept event.
 */
import type { JsonValue } from '@goondan/types';
import { reviveMessage, type StoredMessage } from '../../messages/message-text.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readLines, type StoredLine } from '../lines/read-lines.ts';
import { sealLines } from '../lines/seal-lines.ts';
import type { StorePorts } from '../store-ports.ts';
import type { BlamedMessage } from './blamed-message.ts';

export interface HistoryStart {
  /** The number of the last commit that is included here; 0 before the first commit. */
  readonly version: number;
  /** The number of the last event up to that commit. */
  readonly seq: number;
  readonly messages: readonly BlamedMessage[];
  /** The states of extensions after that commit, by extension name. */
  readonly states: {
    readonly known: Readonly<Record<string, JsonValue>>;
    /** Extensions whose state is unknown, because it was too long for the archive. */
    readonly unknown: readonly string[];
  };
}

export const emptyStart: HistoryStart = { version: 0, seq: 0, messages: [], states: { known: {}, unknown: [] } };

/** Reads the start of a history. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`. */
export async function readStart(ports: StorePorts, path: string): Promise<HistoryStart> {
  const bytes = await ports.fs.read(path);
  const start = bytes ? decodeStart(bytes) : emptyStart;
  if (typeof start === 'string') throw await corruptStore(ports, path, start);
  return start;
}

/** Decodes the bytes of `encodeStart`. Returns the problem when they are damaged. */
export function decodeStart(bytes: Uint8Array): HistoryStart | string {
  const { lines, damage, torn } = readLines(bytes);
  const [head, ...messages] = lines;
  if (damage !== undefined || torn || !head) return damage ?? 'its end is missing';
  const { version, events, states, messages: count } = head.fields as unknown as ReturnType<typeof headOf>;
  if (count !== messages.length) return 'lines are missing';
  return { version, seq: events, states, messages: messages.map(readMessage) };
}

export function encodeStart(start: HistoryStart): Uint8Array {
  const lines = start.messages.map((each, index) => ({ seq: index + 1, put: withoutContents(each) }));
  return sealLines([headOf(start), ...lines].map((line) => JSON.stringify(line)));
}

/** Returns the first line. Its `seq` is the number of the line. */
function headOf({ version, seq: events, states, messages }: HistoryStart) {
  return { seq: 0, version, events, states, messages: messages.length };
}

/** Drops the contents of the replaced messages, because their events are no longer in the archive. */
function withoutContents({ replaced, ...rest }: BlamedMessage): BlamedMessage {
  return replaced === undefined ? rest : { ...rest, replaced: { ...replaced, messages: [] } };
}

function readMessage({ fields }: StoredLine): BlamedMessage {
  // Safe: the checksum was verified, and only encodeStart writes these lines. Dates are strings in JSON.
  const put = fields['put'] as unknown as Omit<BlamedMessage, 'at' | 'message'> & {
    at: string;
    message: StoredMessage;
  };
  return { ...put, at: new Date(put.at), message: reviveMessage(put.message) };
}

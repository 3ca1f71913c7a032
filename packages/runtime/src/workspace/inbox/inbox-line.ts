/**
 * A line of the workspace's inbox log.
 *
 * `{"crc":"…","n":12,"durable":9,"before":["coder","k2",7],"to":["coder","default"],"seq":3,"body":"…","event":{…},"again":[12,"coder","default",3],"sum":"…"}`
 *
 * `crc` covers the fields up to `body`, which is the checksum of the payload. `again` repeats whose line it is, and `sum`
 * is its checksum. So a damaged line still says whose line it is, unless its start and its end are both damaged. Then the
 * next line says it, in `before`.
 */
import type { AgentAddress, AgentEvent, JsonObject, JsonValue } from '@goondan/types';
import { checksum } from '../lines/checksum.ts';

export interface InboxEntry {
  readonly seq: number;
  readonly event: AgentEvent;
  /** The reason, if the event was cancelled. Its turn still runs, but ends as cancelled. */
  readonly cancelled?: string;
  /** The number of nodes that ended while they ran the event's turn; absent if there is none. Only in a store of many nodes. */
  readonly takeOvers?: number;
}

/** The part of a line that is about one instance. The lines of an instance are numbered without gaps. */
export type InboxPayload =
  | { readonly event: AgentEvent }
  /** The mark that cancels the event with the number `cancels`. */
  | { readonly cancels: number; readonly reason: string }
  /** The folder of the instance is about to be renamed. A `deleted` or `kept` line follows. */
  | { readonly deleting: true }
  /** Everything of the instance up to this line is deleted. */
  | { readonly deleted: true }
  /** The deletion did not happen. */
  | { readonly kept: true }
  /** These lines were damaged in a segment that was removed. This payload has the number of the last one of them. */
  | { readonly lost: readonly number[] };

/** The part of a line that is about no single instance. */
export type InboxNote =
  /**
   * The head of a segment, which is written twice. `first`: the number of the oldest segment that counts. `from`: the number
   * of the first line.
   */
  | { readonly segment: number; readonly first: number; readonly from: number }
  /** The numbers of the last handled events. */
  | { readonly handled: readonly (readonly [agentName: string, instanceKey: string, seq: number])[] }
  /** The last line of a full segment, with the last numbers of the instances that have pending lines in it. */
  | { readonly closes: true; readonly last: readonly (readonly [string, string, number])[] };

export interface LineName {
  readonly to: AgentAddress;
  readonly seq: number;
}

/** A line of one instance, before it gets its place in the log. */
export interface NewInstanceLine extends LineName {
  readonly payload: InboxPayload;
  /** The payload as `payloadText` returns it, if the caller has it already. */
  readonly text?: string | undefined;
  readonly handled?: number | undefined;
}

/** A line before it gets its place in the log. */
export type NewLine = NewInstanceLine | { readonly note: InboxNote };

export interface LinePlace {
  /** The number of the line in the whole log. */
  readonly n: number;
  /** All lines up to this number were durable when this line was written. */
  readonly durable: number;
  /** The line before this one. Absent when that line is a note, or is about the same instance. */
  readonly before?: LineName | undefined;
  /** The number of the last handled event of the instance that the line is about. */
  readonly handled?: number | undefined;
}

/** A line as it was read. `size`: the number of its bytes, with the line break. */
export type InboxLine = NewLine & LinePlace & { readonly size: number };

/** The name that a damaged line still has. Without `name`, the line is a note. */
export interface NamedLine {
  readonly n: number;
  readonly name?: LineName;
}

const SEAL_LENGTH = 18;
const SEAL = /^\{"crc":"([0-9a-f]{8})",$/;
const BODY = Buffer.from(',"body":"');
const AGAIN = Buffer.from(',"again":[');
const AGAIN_END = /^,"again":(\[.*\]),"sum":"([0-9a-f]{8})"\}$/s;
/** The length of `,"body":"01234567"`. */
const BODY_LENGTH = 18;
const COMMA = 0x2c;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Makes the bytes of a line, with its line break. */
export function encodeLine(line: NewLine, { n, durable, before, handled }: LinePlace): string {
  const isNote = 'note' in line;
  const name = isNote ? '' : nameText(line);
  const payload = isNote ? payloadText(line.note) : (line.text ?? payloadText(line.payload));
  // The numbers of an instance have no gaps, so the line before this one needs no name if it is about the same instance.
  const previous = before && (isNote || before.to !== line.to) ? `,"before":[${nameText(before)}]` : '';
  const done = handled === undefined ? '' : `,"handled":${handled}`;
  const to = isNote ? '' : `,"to":[${addressText(line.to)}],"seq":${line.seq}${done}`;
  const head = `"n":${n},"durable":${durable}${previous}${to},"body":"${hex(payload)}"`;
  const again = `[${n}${isNote ? '' : `,${name}`}]`;
  return `{"crc":"${hex(head)}",${head},${payload},"again":${again},"sum":"${hex(again)}"}\n`;
}

/** Returns the text of the fields, without the braces. */
export function payloadText(payload: InboxPayload | InboxNote): string {
  return JSON.stringify('event' in payload ? withTextDate(payload.event) : payload).slice(1, -1);
}

/** `JSON.stringify` takes four times as long for an event with a `Date` in it, and makes the same text. */
function withTextDate(event: AgentEvent): object {
  return { event: { ...event, createdAt: event.createdAt.toJSON() } };
}

/** Reads the bytes of a line, without its line break. Returns `undefined` when the line is not intact. */
export function decodeLine(line: Uint8Array): InboxLine | undefined {
  const head = readHead(line);
  const tail = head && readTail(line);
  if (!tail) return undefined;
  const payload = line.subarray(head.end + 1, tail.start);
  const isJoined = line[head.end] === COMMA && head.end < tail.start;
  if (!isJoined || checksum(payload) !== head.body || !isSame(head, tail)) return undefined;
  // Safe: the checksums prove that encodeLine wrote these bytes.
  const read = JSON.parse(`{${decoder.decode(payload)}}`) as JsonObject;
  const { n, durable, before, handled, name } = head;
  const place = {
    n,
    durable,
    ...(before && { before }),
    ...(handled !== undefined && { handled }),
    size: line.length + 1,
  };
  return name ? { ...place, ...name, payload: revive(read) } : { ...place, note: read as unknown as InboxNote };
}

/** Returns the names that the start and the end of a damaged line have. */
export function nameOf(line: Uint8Array): NamedLine | undefined {
  const found = readHead(line) ?? readTail(line);
  return found && { n: found.n, ...(found.name && { name: found.name }) };
}

export function addressText({ agentName, instanceKey }: AgentAddress): string {
  return `${JSON.stringify(agentName)},${JSON.stringify(instanceKey)}`;
}

function nameText({ to, seq }: LineName): string {
  return `${addressText(to)},${seq}`;
}

function hex(text: string): string {
  return checksum(text).toString(16).padStart(8, '0');
}

function readHead(line: Uint8Array) {
  if (line.length <= SEAL_LENGTH) return undefined;
  const seal = SEAL.exec(Buffer.from(line.buffer, line.byteOffset, SEAL_LENGTH).toString('latin1'));
  const at = seal ? Buffer.from(line.buffer, line.byteOffset, line.length).indexOf(BODY) : -1;
  const end = at + BODY_LENGTH;
  if (!seal || at === -1 || end > line.length) return undefined;
  const text = line.subarray(SEAL_LENGTH, end);
  if (checksum(text) !== Number.parseInt(seal[1] ?? '', 16)) return undefined;
  // Safe: the checksum proves that encodeLine wrote these bytes.
  const fields = JSON.parse(`{${decoder.decode(text)}}`) as unknown as {
    readonly n: number;
    readonly durable: number;
    readonly before?: readonly [string, string, number];
    readonly to?: readonly [string, string];
    readonly seq?: number;
    readonly handled?: number;
    readonly body: string;
  };
  const { n, durable, before, to, seq = 0, handled, body } = fields;
  return {
    n,
    durable,
    ...(before && { before: named(before) }),
    ...(handled !== undefined && { handled }),
    ...(to && { name: named([...to, seq]) }),
    body: Number.parseInt(body, 16),
    end,
  };
}

function readTail(line: Uint8Array): (NamedLine & { readonly start: number }) | undefined {
  const buffer = Buffer.from(line.buffer, line.byteOffset, line.length);
  const start = buffer.lastIndexOf(AGAIN);
  const match = start === -1 ? null : AGAIN_END.exec(buffer.subarray(start).toString('utf8'));
  const [, text = '', sum = ''] = match ?? [];
  if (!match || checksum(text) !== Number.parseInt(sum, 16)) return undefined;
  // Safe: the checksum proves that encodeLine wrote this list.
  const [n, ...name] = JSON.parse(text) as [number] | [number, string, string, number];
  return { n, start, ...(name.length === 3 && { name: named(name) }) };
}

function isSame(one: NamedLine, other: NamedLine): boolean {
  const [a, b] = [one.name, other.name];
  if (one.n !== other.n || !a || !b) return one.n === other.n && a === b;
  return a.seq === b.seq && a.to.agentName === b.to.agentName && a.to.instanceKey === b.to.instanceKey;
}

function named([agentName, instanceKey, seq]: readonly [string, string, number]): LineName {
  return { to: { agentName, instanceKey }, seq };
}

/** Dates are strings in JSON. */
function revive(read: JsonObject): InboxPayload {
  // Safe: the checksum was verified, and only encodeLine writes these fields.
  if (!('event' in read)) return read as unknown as InboxPayload;
  const event = read['event'] as { readonly [field: string]: JsonValue } & { readonly createdAt: string };
  return { event: { ...event, createdAt: new Date(event.createdAt) } as unknown as AgentEvent };
}

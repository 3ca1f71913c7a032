/**
 * Records as a turn writes them: short, and still JSON that a person can read. A short record begins with `is`, a full
 * one with `type`; the log may have both.
 *
 * 1. `restoreRecords` returns exactly the records that `shortenRecords` got.
 * 2. A short record leaves out only parts that its turn, or an earlier record of its turn, or its frame has.
 *
 * | part                                     | short                                                           |
 * | ---------------------------------------- | --------------------------------------------------------------- |
 * | an id that begins with the id of the turn | the rest of it: `ownId`, `response`; a step is its index       |
 * | no metadata, no states, no results       | left out                                                        |
 * | the usual source of a message            | left out                                                        |
 * | the plan of the record before            | left out; `null` if there is none any more                      |
 * | the reply of a model, in an effect       | `contentOf`: the message with it, so many records later         |
 * | a result, in a step                      | a number: the effect with it is so many records before the step |
 * | the text of an input that the turn took  | left out, because the message has it                            |
 */
import type { JsonValue, Message, MessageSource } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { isPlainObject } from '../../json/copy-json.ts';
import { isSameJson } from '../../json/same-json.ts';
import { encodeData, type StoredMessage } from '../../messages/message-text.ts';
import { encodeEvent, type StoredMessageRecord, type StoredRecord, type StoredTaken } from './logged-record.ts';

type RecordOf<Type extends TurnRecord['type']> = Extract<TurnRecord, { type: Type }>;

type ShortMessage = Omit<StoredMessage, 'id' | 'metadata' | 'source'> &
  Partial<Pick<StoredMessage, 'id' | 'metadata' | 'source'>> & { readonly ownId?: string };

interface Sealed {
  readonly metadata?: Record<string, JsonValue> | undefined;
  readonly extensionState?: Record<string, JsonValue> | undefined;
  readonly plan?: string | null | undefined;
}

interface ShortMessageRecord {
  readonly is: 'message';
  /** The index of the step, or its id. */
  readonly step?: number | string;
  readonly author: StoredMessageRecord['author'];
  readonly append?: ShortMessage;
  /** Every event except `append`. */
  readonly event?: StoredMessageRecord['event'];
  readonly took?: StoredTaken;
}

interface ShortEffect extends Omit<RecordOf<'effect'>, 'type' | 'outcome'> {
  readonly is: 'effect';
  /** The value of an effect that succeeded. */
  readonly value?: JsonValue;
  readonly contentOf?: number;
  readonly outcome?: RecordOf<'effect'>['outcome'];
}

interface ShortStep extends Omit<RecordOf<'step'>, 'type' | 'stepId' | 'toolResults' | keyof Sealed>, Sealed {
  readonly is: 'step';
  readonly stepId?: string;
  readonly response?: string;
  readonly toolResults?: readonly (RecordOf<'step'>['toolResults'][number] | number)[];
}

export type ShortRecord =
  | ShortMessageRecord
  | ShortEffect
  | ShortStep
  | (Sealed & { readonly is: 'entered' })
  | (Omit<RecordOf<'intent'>, 'type'> & { readonly is: 'intent' })
  | (Omit<RecordOf<'resumed'>, 'type'> & { readonly is: 'resumed' });

/** The part of a turn before its next records. */
export interface RecordContext {
  readonly turn: string;
  /** The plan of the last `entered` or `step` record. */
  readonly plan?: string | undefined;
}

/** Returns the plan of the last `entered` or `step` record. `before`: the plan before these records. */
export function planAfter(
  records: readonly { readonly record: TurnRecord }[],
  before: string | undefined,
): string | undefined {
  let plan = before;
  for (const { record } of records) if (record.type === 'entered' || record.type === 'step') plan = record.plan;
  return plan;
}

/** Makes the JSON texts of the records of one frame. */
export function shortenRecords(records: readonly TurnRecord[], { turn, plan }: RecordContext): string[] {
  const frame: ShortenedFrame = { records, turn, plan };
  const texts: string[] = [];
  for (let index = 0; index < records.length; index++) {
    // Safe: the index is inside the list.
    const record = records[index] as TurnRecord;
    texts.push(shorten(record, frame, index));
    if (record.type === 'entered' || record.type === 'step') frame.plan = record.plan;
  }
  return texts;
}

/** The frame whose records are being shortened. */
interface ShortenedFrame {
  readonly records: readonly TurnRecord[];
  readonly turn: string;
  /** The plan before the current record. */
  plan: string | undefined;
}

function shorten(record: TurnRecord, frame: ShortenedFrame, index: number): string {
  switch (record.type) {
    case 'message':
      return shortenMessageRecord(record, frame.turn);
    case 'effect':
      return shortenEffect(record, frame, index);
    case 'step':
      return shortenStep(record, frame, index);
    case 'entered':
      return `{"is":"entered"${shortenSealed(record, frame.plan)}}`;
    case 'intent':
    case 'resumed': {
      const { type: is, ...rest } = record;
      return JSON.stringify({ is, ...rest });
    }
  }
}

function shortenMessageRecord({ event, author, stepId, took }: RecordOf<'message'>, turn: string): string {
  const step = stepId === undefined ? '' : `,"step":${indexOf(stepId, turn) ?? JSON.stringify(stepId)}`;
  const head = `{"is":"message"${step},"author":${JSON.stringify(author)}`;
  if (event.type !== 'append') return `${head},"event":${encodeEvent(event)}}`;
  return `${head},"append":${shortenMessage(event.message, turn, stepId)}${shortenTaken(took, event.message)}}`;
}

/** Makes the text of the field, with a comma before it. */
function shortenTaken(took: RecordOf<'message'>['took'], { data: { content } }: Message): string {
  if (took === undefined) return '';
  const isSame = took.event.input === content;
  return `,"took":${JSON.stringify(isSame ? { ...took, event: { ...took.event, input: undefined } } : took)}`;
}

function shortenMessage(message: Message, turn: string, stepId: string | undefined): string {
  const { id, data, metadata, createdAt, source, lifetime } = message;
  const ownId = ownPart(id, turn);
  const name = ownId === undefined ? `"id":${JSON.stringify(id)}` : `"ownId":${JSON.stringify(ownId)}`;
  let text = `{${name},"data":${encodeData(data)},"createdAt":"${createdAt.toISOString()}"`;
  if (!isEmpty(metadata)) text += `,"metadata":${JSON.stringify(metadata)}`;
  if (!isSameJson(source, usualSource(data, stepId))) text += `,"source":${JSON.stringify(source)}`;
  if (lifetime !== undefined) text += `,"lifetime":${JSON.stringify(lifetime)}`;
  return `${text}}`;
}

function shortenEffect(record: RecordOf<'effect'>, frame: ShortenedFrame, index: number): string {
  const { key, kind, outcome, paid, called } = record;
  let head = `{"is":"effect","key":${JSON.stringify(key)},"kind":"${kind}"`;
  if (paid !== undefined) head += `,"paid":${JSON.stringify(paid)}`;
  if (called !== undefined) head += `,"called":${JSON.stringify(called)}`;
  if (!outcome.ok || outcome.value === undefined) return `${head},"outcome":${JSON.stringify(outcome)}}`;
  const { value } = outcome;
  const contentOf = kind === 'model' ? findContent(value, frame, index) : undefined;
  if (contentOf === undefined) return `${head},"value":${JSON.stringify(value)}}`;
  // Safe: findContent has found a field of an object.
  const rest = { ...(value as object), content: undefined };
  return `${head},"value":${JSON.stringify(rest)},"contentOf":${contentOf}}`;
}

/** Finds the message that has the content of a reply. Returns how many records later it is. */
function findContent(value: JsonValue, { records }: ShortenedFrame, index: number): number | undefined {
  // Restoring puts the content in front of the other fields.
  if (!isPlainObject(value) || firstName(value) !== 'content') return undefined;
  const sought = value['content'];
  for (let place = index + 1; place < records.length; place++) {
    const record = records[place];
    if (record?.type !== 'message' || record.event.type !== 'append') continue;
    if (isSameJson(record.event.message.data.content, sought)) return place - index;
  }
  return undefined;
}

function shortenStep(record: RecordOf<'step'>, frame: ShortenedFrame, index: number): string {
  const { stepId, stepIndex, responseMessageId, toolResults, metadata, extensionState, plan } = record;
  let text = '{"is":"step",';
  if (stepId !== stepIdOf(stepIndex, frame.turn)) text += `"stepId":${JSON.stringify(stepId)},`;
  // A copy with empty fields takes a third of the time of one without these fields, and has the same text.
  const rest = { ...record, type: undefined, stepId: undefined, responseMessageId: undefined, toolResults: undefined };
  text += JSON.stringify({ ...rest, metadata: undefined, extensionState: undefined, plan: undefined }).slice(1, -1);
  if (toolResults.length > 0) text += `,"toolResults":[${findResults(toolResults, frame.records, index)}]`;
  if (responseMessageId !== undefined) {
    const response = ownPart(responseMessageId, frame.turn);
    const name = response === undefined ? 'responseMessageId' : 'response';
    text += `,"${name}":${JSON.stringify(response ?? responseMessageId)}`;
  }
  return `${text}${shortenSealed({ metadata, extensionState, plan }, frame.plan)}}`;
}

function findResults(results: readonly object[], frame: readonly TurnRecord[], index: number): string {
  let text = '';
  for (const result of results) text += `${text === '' ? '' : ','}${findResult(result, frame, index)}`;
  return text;
}

/** Finds the effect that has this result. Returns how many records before the step it is, or the text of the result. */
function findResult(result: object, frame: readonly TurnRecord[], index: number): string | number {
  for (let place = index - 1; place >= 0; place--) {
    const record = frame[place];
    // The reply of a model may be written without its content.
    if (record?.type !== 'effect' || record.kind === 'model' || !record.outcome.ok) continue;
    if (isSameJson(record.outcome.value, result)) return index - place;
  }
  return JSON.stringify(result);
}

/** Makes the text of the fields, each with a comma before it. `before`: the plan before this record. */
function shortenSealed({ metadata = {}, extensionState = {}, plan }: Sealed, before: string | undefined): string {
  let text = '';
  if (!isEmpty(metadata)) text += `,"metadata":${JSON.stringify(metadata)}`;
  if (!isEmpty(extensionState)) text += `,"extensionState":${JSON.stringify(extensionState)}`;
  if (plan !== before) text += `,"plan":${JSON.stringify(plan ?? null)}`;
  return text;
}

/** Returns the records of one frame in full. */
export function restoreRecords(
  frame: readonly (StoredRecord | ShortRecord)[],
  { turn, plan }: RecordContext,
): StoredRecord[] {
  let known = plan;
  const full = frame.map((record): StoredRecord => {
    const restored = 'is' in record ? restore(record, { turn, plan: known }) : record;
    if (restored.type === 'entered' || restored.type === 'step') known = restored.plan;
    return restored;
  });
  return full.map((record, index) => {
    const short = frame[index];
    if (short === undefined || !('is' in short)) return record;
    if (short.is === 'effect') return restoreContent(short, record, full[index + (short.contentOf ?? 0)]);
    return short.is === 'step' ? restoreResults(short, record, full, index) : record;
  });
}

function restore(short: ShortRecord, context: RecordContext): StoredRecord {
  switch (short.is) {
    case 'message':
      return restoreMessageRecord(short, context.turn);
    case 'effect': {
      const { key, kind, outcome, paid, called, value = null } = short;
      const spent = { ...(paid && { paid }), ...(called && { called }) };
      return { type: 'effect', key, kind, outcome: outcome ?? { ok: true, value }, ...spent };
    }
    case 'step':
      return restoreStep(short, context);
    case 'entered':
      return { type: 'entered', ...restoreSealed(short, context) };
    case 'intent': {
      const { is: type, ...rest } = short;
      return { type, ...rest };
    }
    case 'resumed': {
      const { is: type, ...rest } = short;
      return { type, ...rest };
    }
  }
}

function restoreMessageRecord(short: ShortMessageRecord, turn: string): StoredMessageRecord {
  const { step, author, append, event, took } = short;
  const stepId = typeof step === 'number' ? stepIdOf(step, turn) : step;
  const restored = append ? ({ type: 'append', message: restoreMessage(append, turn, stepId) } as const) : event;
  // Safe: a short record has one of the two.
  return {
    type: 'message',
    ...(stepId !== undefined && { step: stepId }),
    author,
    event: restored as StoredMessageRecord['event'],
    ...(took && { took: restoreTaken(took, append) }),
  };
}

function restoreTaken(took: StoredTaken, append: ShortMessage | undefined): StoredTaken {
  const content = append?.data.content;
  if (took.event.input !== undefined || typeof content !== 'string') return took;
  return { ...took, event: { ...took.event, input: content } };
}

function restoreMessage(short: ShortMessage, turn: string, stepId: string | undefined): StoredMessage {
  const { id, ownId = '', data, metadata = {}, createdAt, source, lifetime } = short;
  return {
    id: id ?? turn + ownId,
    data,
    metadata,
    createdAt,
    // Safe: a source is left out only if it is the usual one.
    source: source ?? (usualSource(data, stepId) as MessageSource),
    ...(lifetime !== undefined && { lifetime }),
  };
}

function restoreContent(
  { contentOf }: ShortEffect,
  record: StoredRecord,
  message: StoredRecord | undefined,
): StoredRecord {
  if (contentOf === undefined || record.type !== 'effect' || !record.outcome.ok) return record;
  if (message?.type !== 'message' || message.event.type !== 'append') return record;
  const { content } = message.event.message.data;
  // Safe: contentOf is written only for an object, and a message has JSON.
  const value = { content, ...(record.outcome.value as object) } as unknown as JsonValue;
  return { ...record, outcome: { ok: true, value } };
}

function restoreStep(short: ShortStep, context: RecordContext): RecordOf<'step'> {
  const { is: type, stepIndex, stepId, response, metadata, extensionState, plan, ...rest } = short;
  const sealed = restoreSealed({ metadata, extensionState, plan }, context);
  return {
    type,
    stepId: stepId ?? stepIdOf(stepIndex, context.turn),
    stepIndex,
    ...rest,
    ...(response !== undefined && { responseMessageId: context.turn + response }),
    toolResults: [],
    ...sealed,
  };
}

function restoreResults(
  { toolResults = [] }: ShortStep,
  record: StoredRecord,
  full: readonly StoredRecord[],
  index: number,
): StoredRecord {
  if (record.type !== 'step') return record;
  return {
    ...record,
    toolResults: toolResults.map((result) => {
      if (typeof result !== 'number') return result;
      const effect = full[index - result];
      // Safe: the number is written only for an effect that has this result.
      const outcome = effect?.type === 'effect' ? effect.outcome : undefined;
      return (outcome?.ok === true ? outcome.value : undefined) as never;
    }),
  };
}

function restoreSealed({ metadata = {}, extensionState = {}, plan }: Sealed, before: RecordContext) {
  const own = plan === undefined ? before.plan : (plan ?? undefined);
  return { metadata, extensionState, ...(own !== undefined && { plan: own }) };
}

/** Returns the source that nearly all messages of this role have. */
function usualSource(data: Message['data'], stepId: string | undefined): MessageSource | undefined {
  if (data.role === 'user') return { type: 'user' };
  if (data.role === 'assistant') return stepId === undefined ? undefined : { type: 'assistant', stepId };
  const part = data.role === 'tool' ? data.content[0] : undefined;
  return part && { type: 'tool', toolCallId: part.toolCallId, toolName: part.toolName };
}

function stepIdOf(index: number, turn: string): string {
  return `${turn}.step-${index}`;
}

/** Returns the index of a step with this id; `undefined` when the id has another form. */
function indexOf(stepId: string, turn: string): number | undefined {
  const index = Number(stepId.slice(turn.length + '.step-'.length));
  return Number.isSafeInteger(index) && stepId === stepIdOf(index, turn) ? index : undefined;
}

/** Returns the part of an id behind the id of its turn; `undefined` when the id does not begin with it. */
function ownPart(id: string, turn: string): string | undefined {
  return id.startsWith(turn) ? id.slice(turn.length) : undefined;
}

function isEmpty(value: object): boolean {
  return firstName(value) === undefined;
}

function firstName(value: object): string | undefined {
  for (const name in value) return name;
  return undefined;
}

/** What may be asked over the control socket, field by field; a field that is not named here is refused. */
import {
  type Check,
  count,
  exactObject,
  type FieldsOf,
  flag,
  jsonObject,
  listOf,
  Misfit,
  name,
  oneOf,
  optional,
  text,
} from '../../ipc/check/shape.ts';
import { noticeTypes } from '../../control/notice-types.ts';
import { isSpanId } from '../../trace/span-id.ts';
import type { Delivery, InstanceChoice, SwarmNotice, WatchFilter } from '../../control/swarm-control.ts';

const traceId: Check<string> = (value) => {
  const id = text(value);
  if (!/^[0-9a-f]{32}$/.test(id)) throw new Misfit('is not 32 hexadecimal digits');
  return id;
};

const spanId: Check<string> = (value) => {
  if (!isSpanId(value)) throw new Misfit('is not 16 hexadecimal digits');
  return value;
};

export const deliveryBody: Check<Delivery> = exactObject({
  agent: optional(name),
  instanceKey: optional(name),
  input: optional(text),
  id: optional(name),
  metadata: optional(jsonObject),
  auth: optional(jsonObject),
  traceId: optional(traceId),
  parentSpanId: optional(spanId),
  isSampled: optional(flag),
} satisfies FieldsOf<Delivery>);

const choice = { agent: optional(name), instanceKey: optional(name) } satisfies FieldsOf<InstanceChoice>;

export const cancelBody = exactObject({ ...choice, eventId: optional(name), reason: optional(text) });
export const deleteBody = exactObject({ agent: name, instanceKey: name, force: optional(flag) });
/** An event's number, or a turn's id. */
const moment: Check<number | string> = (value) => (typeof value === 'number' ? count(value) : name(value));
export const forkBody = exactObject({ agent: name, instanceKey: name, as: name, at: optional(moment) });
export const deadLetterBody = exactObject({ agent: name, instanceKey: name, eventId: name });
export const restartBody = exactObject({ ...choice, fresh: optional(flag) });
export const answerBody = exactObject({ id: name, by: optional(name), note: optional(text) });
export const stopBody = exactObject({ graceMs: optional(count) });
export const choiceQuery: Check<InstanceChoice> = exactObject(choice);
export const nothing = exactObject({});

/** As a query has it. */
const flagText: Check<boolean> = (value) => oneOf('true', 'false')(value) === 'true';

export const turnQuery = exactObject({ cancelOnDisconnect: optional(flagText) });

const noticeType: Check<SwarmNotice['type']> = oneOf(...noticeTypes);

export const watchQuery: Check<WatchFilter> = exactObject({
  ...choice,
  eventId: optional(name),
  types: optional((value: unknown) => listOf(noticeType)(text(value).split(','))),
  soFar: optional(flagText),
} satisfies FieldsOf<WatchFilter>);

/** A query as an object; a parameter without a value counts as absent. */
export function readQuery(parameters: URLSearchParams): Record<string, string> {
  // Without a prototype, `__proto__` is a name like any other.
  const query: Record<string, string> = Object.create(null);
  for (const [key, value] of parameters) {
    if (value === '') continue;
    if (key in query) throw new Misfit('is there twice', key.slice(0, 60));
    query[key] = value;
  }
  return query;
}

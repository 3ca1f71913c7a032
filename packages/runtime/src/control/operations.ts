/**
 * The table of all operations of a running swarm over its control socket. The client, the server, the fake for tests
 * and the table in docs/control-socket.md are derived from this table. An operation has the name of a method of
 * `Swarm`; its request is the method's argument, and its answer is the result. `ask`, `watch` and `stop` use streams.
 */
import { alwaysScopes, type InputPart } from '@goondan/types';
import { isSpanId } from '../trace/span-id.ts';
import {
  type Check,
  count,
  exactObject,
  flag,
  jsonObject,
  listOf,
  ShapeError,
  name,
  object,
  oneOf,
  optional,
  type ShapeOf,
  text,
} from '../ipc/check/shape.ts';
import { outputShape } from '../ipc/check/output-shape.ts';
import {
  acceptanceShape,
  address,
  questionSummary,
  deadLetter,
  forkShape,
  grantSummary,
  instanceStatus,
  noticeTypes,
  reloadShape,
  statusShape,
  turnEndShape,
  yes,
} from './check-answer.ts';
import type { QuestionReply } from '../questions/check-reply.ts';
import type { AskOptions, Delivery, StopOptions, Swarm, TurnEnd, WatchFilter } from './swarm.ts';

/**
 * The version of the protocol. Fields and operations may be added to a version. To remove a field or an operation, or
 * to change its meaning, a new version is needed.
 */
export const PROTOCOL = '/v3';

export const EVENT_STREAM = 'text/event-stream';

export interface Operation<Request, Answer> {
  readonly method: 'GET' | 'POST';
  /** The path below `PROTOCOL`. */
  readonly path: string;
  /** The query of a GET request, or the body of a POST request. */
  readonly request: Part<Request>;
  readonly answer: Part<Answer> & {
    /** Converts a result to JSON. */
    write(result: Answer): unknown;
  };
  /** If true, it changes nothing, so that a token with the scope `read` is enough. */
  readonly isReading?: true;
  /** If true, a client waits for the answer without a time limit. */
  readonly isPatient?: true;
  /** If true, the body may be as large as an input. */
  readonly isDelivery?: true;
  /**
   * Present if the answer can be an event stream. `always`: every answer is a stream. `accepted`: the answer is a
   * stream if the client accepts one.
   */
  readonly stream?: 'always' | 'accepted';
}

/** The shape of a JSON object. */
interface Part<Value> {
  /** The names of the object's fields. The name of an optional field ends with a question mark. */
  readonly fields: readonly string[];
  readonly check: Check<Value>;
}

/** Names of methods with one request and one answer. */
export type PlainName = Exclude<keyof Swarm, 'ask' | 'watch' | 'stop' | 'stopped' | 'failure'>;
export type RequestOf<Name extends PlainName> =
  Parameters<Swarm[Name]> extends [] ? object : NonNullable<Parameters<Swarm[Name]>[0]>;
export type AnswerOf<Name extends PlainName> = Awaited<ReturnType<Swarm[Name]>>;
export type AskRequest = Delivery & Pick<AskOptions, 'cancelOnDisconnect' | 'soFar'>;

const nothing = request<object>({});
/** A name in a filter. An empty name is allowed and matches nothing. */
const filterName: Check<string> = (value) => (value === '' ? value : name(value));
const choice = { agent: optional(filterName), instanceKey: optional(filterName) };
const reply: ShapeOf<QuestionReply> = {
  id: name,
  digest: optional(name),
  decision: oneOf('approved', 'denied'),
  by: name,
  via: optional(name),
  note: optional(text),
  args: optional(jsonObject),
  content: optional(jsonObject),
  always: optional(oneOf(...alwaysScopes)),
};
/** A moment of a conversation: the number of an event, or the id of a turn. */
const moment: Check<number | string> = (value) => (typeof value === 'number' ? count(value) : name(value));
/** A boolean in the query of a URL. */
const flagText: Check<boolean> = (value) => oneOf('true', 'false')(value) === 'true';
const typeList: Check<WatchFilter['types'] & {}> = (value) =>
  value === '' ? [] : listOf(oneOf(...noticeTypes))(text(value).split(','));

/** The parts are checked when the input is accepted, with an error that names the part. */
const inputParts: Check<readonly InputPart[]> = (value) =>
  // Safe: the parts are untrusted until then.
  listOf(jsonObject)(value) as unknown as readonly InputPart[];

const delivery: ShapeOf<Delivery> = {
  agent: optional(name),
  instanceKey: optional(name),
  input: optional(text),
  content: optional(inputParts),
  now: optional(flag),
  id: optional(name),
  client: optional(name),
  metadata: optional(jsonObject),
  output: optional(outputShape),
  auth: optional(jsonObject),
  traceId: optional(traceId),
  parentSpanId: optional(spanId),
  isSampled: optional(flag),
};

export const operations: { readonly [Name in PlainName]: Operation<RequestOf<Name>, AnswerOf<Name>> } & {
  readonly ask: Operation<AskRequest, TurnEnd>;
  readonly watch: Operation<WatchFilter, object>;
  readonly stop: Operation<Omit<StopOptions, 'left'>, true>;
} = {
  status: { method: 'GET', path: '/status', request: nothing, answer: whole(statusShape), isReading: true },
  instances: {
    method: 'GET',
    path: '/instances',
    request: nothing,
    answer: only('instances', listOf(instanceStatus)),
    isReading: true,
  },
  deleteInstance: {
    method: 'POST',
    path: '/instances/delete',
    request: request({ ...address, force: optional(flag) }),
    answer: whole({ inputs: optional(count) }),
    isPatient: true,
  },
  forkInstance: {
    method: 'POST',
    path: '/instances/fork',
    request: request({ ...address, as: name, at: optional(moment) }),
    answer: whole(forkShape),
    isPatient: true,
  },
  deliver: {
    method: 'POST',
    path: '/deliver',
    request: request(delivery),
    answer: whole(acceptanceShape),
    isDelivery: true,
  },
  ask: {
    method: 'POST',
    path: '/ask',
    request: request({ ...delivery, cancelOnDisconnect: optional(flag), soFar: optional(flag) }),
    answer: whole(turnEndShape),
    isDelivery: true,
    stream: 'accepted',
  },
  watch: {
    method: 'GET',
    path: '/events',
    request: request({
      ...choice,
      eventId: optional(filterName),
      types: optional(typeList),
      soFar: optional(flagText),
    }),
    answer: whole({}),
    stream: 'always',
    isReading: true,
  },
  cancel: {
    method: 'POST',
    path: '/cancel',
    request: request({
      agent: optional(name),
      instanceKey: optional(name),
      eventId: optional(name),
      reason: optional(text),
    }),
    answer: only('cancelled', flag),
  },
  deadLetters: {
    method: 'GET',
    path: '/dead-letters',
    request: request(choice),
    answer: only('deadLetters', listOf(deadLetter)),
    isReading: true,
  },
  retryDeadLetter: {
    method: 'POST',
    path: '/dead-letters/retry',
    request: request({ ...address, eventId: name }),
    answer: only('retried', flag),
  },
  dropDeadLetter: {
    method: 'POST',
    path: '/dead-letters/drop',
    request: request({ ...address, eventId: name }),
    answer: only('dropped', flag),
  },
  questions: {
    method: 'GET',
    path: '/questions',
    request: nothing,
    answer: only('questions', listOf(questionSummary)),
    isReading: true,
  },
  answer: { method: 'POST', path: '/questions/answer', request: request(reply), answer: done('answered') },
  grants: {
    method: 'GET',
    path: '/grants',
    request: nothing,
    answer: only('grants', listOf(grantSummary)),
    isReading: true,
  },
  revoke: {
    method: 'POST',
    path: '/grants/revoke',
    request: request({ id: name, by: name, via: optional(name) }),
    answer: done('revoked'),
  },
  restart: {
    method: 'POST',
    path: '/restart',
    request: request({ ...choice, fresh: optional(flag) }),
    answer: only('restarted', count),
    isPatient: true,
  },
  reload: { method: 'POST', path: '/reload', request: nothing, answer: whole(reloadShape), isPatient: true },
  stop: {
    method: 'POST',
    path: '/stop',
    request: request({ graceMs: optional(count), handover: optional(flag) }),
    answer: only('stopping', yes),
    stream: 'accepted',
  },
};

export type OperationName = keyof typeof operations;

/** Safe: these are the keys of `operations`, although the compiler types them as any text. */
export const operationNames = Object.keys(operations) as OperationName[];

/**
 * Describes a request. Unknown fields are rejected, because they are mistakes of the caller. So are texts that no store
 * can keep as they are; only an input may have any character.
 */
function request<Request extends object>(shape: NoInfer<ShapeOf<Request>>): Part<Request> {
  // Safe: each field of the shape is checked against its type.
  const check = exactObject(shape) as Check<Request>;
  return { fields: fieldsOf(shape), check: (value) => refuseOddTexts(check(value)) };
}

function refuseOddTexts<Request extends object>(asked: Request): Request {
  for (const [field, value] of Object.entries(asked)) {
    if (field === 'input' || typeof value !== 'string') continue;
    if (value.includes('\0')) throw new ShapeError('contains a NUL character', field);
    if (!value.isWellFormed()) throw new ShapeError('contains half of a surrogate pair', field);
  }
  return asked;
}

/** Describes an answer that is the result itself. Fields that only a newer server knows are ignored. */
function whole<Answer extends object>(shape: NoInfer<ShapeOf<Answer>>): Operation<unknown, Answer>['answer'] {
  return { fields: fieldsOf(shape), check: object(shape) as Check<Answer>, write: (result) => result };
}

/** Describes an answer whose only field is the result. */
function only<Answer>(field: string, check: Check<Answer>): Operation<unknown, Answer>['answer'] {
  const answer = object({ [field]: check });
  return {
    fields: [field],
    // Safe: the shape has no other field.
    check: (value) => answer(value)[field] as Answer,
    write: (result) => ({ [field]: result }),
  };
}

/** Describes an answer that only says that the operation is done. */
function done(field: string): Operation<unknown, void>['answer'] {
  const answer = object({ [field]: yes });
  return { fields: [field], check: (value) => void answer(value), write: () => ({ [field]: true }) };
}

function fieldsOf(shape: object): readonly string[] {
  return Object.entries(shape).map(([field, check]) => (typeof check === 'function' ? field : `${field}?`));
}

function traceId(value: unknown): string {
  const id = text(value);
  if (!/^[0-9a-f]{32}$/.test(id)) throw new ShapeError('is not 32 hexadecimal digits');
  return id;
}

function spanId(value: unknown): string {
  if (!isSpanId(value)) throw new ShapeError('is not 16 hexadecimal digits');
  return value;
}

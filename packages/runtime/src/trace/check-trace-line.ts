/**
 * Checks the shape of a line of a trace file, which may be damaged. The other files of this folder rely on the shapes
 * of `trace-lines.ts`.
 */
import { isPlainObject, type PlainObject } from '../json/copy-json.ts';
import { isMiddlewareKind } from '../ports/middleware-kinds.ts';
import type { TraceLine } from './trace-lines.ts';

export function isTraceLine(line: PlainObject): line is PlainObject & TraceLine {
  return isTraceLineType(line['type']) && checks[line['type']](line);
}

function isTraceLineType(type: unknown): type is TraceLine['type'] {
  return typeof type === 'string' && Object.hasOwn(checks, type);
}

const isChange = fields({ path: isText }, { before: isText, after: isText });
const isPlace = fields({ file: isText, line: isWhole, column: isWhole });

const isAnswers = listOf(
  fields(
    { decision: isText },
    {
      ...each(isText, 'kind', 'by', 'via', 'question', 'grant'),
      ...each(isPlainObject, 'args', 'before'),
      afterMs: isNumber,
    },
  ),
);

const isLayer = fields(
  { kind: isMiddlewareKind, extension: isText, name: isText },
  {
    ...each(isText, 'outcome', 'error', 'stack'),
    ...each(isNumber, 'startMs', 'ownMs', 'waitedMs', 'totalMs', 'emittedMore', 'emittedAfter', 'drewMore'),
    ...each(listOf(isChange), 'changed', 'resultChanged', 'messages'),
    answers: isAnswers,
    emitted: listOf(isText),
    notes: listOf(isText),
    place: isPlace,
    drew: Array.isArray,
    marks: isPlainObject,
  },
);

const isSpan = fields(
  { kind: isMiddlewareKind, ...each(isText, 'label', 'id', 'spanId'), ...each(isNumber, 'startMs', 'totalMs') },
  {
    ...each(isText, 'plan', 'effect', 'input', 'asked', 'outcome', 'error', 'stack'),
    ...each(isNumber, 'layersMore', 'retryMs', 'limitMs', 'reservedTokens', 'waitedMs', 'askedMs'),
    answers: isAnswers,
    ...each(isPlainObject, 'by', 'tokens'),
    limitWait: fields({ limit: isText, startMs: isNumber }),
    took: listOf(fields({ ...each(isText, 'eventId', 'input'), source: isPlainObject })),
    place: isPlace,
    layers: listOf(isLayer),
  },
);

const isAsked = fields({
  modelRef: isText,
  tools: mapOf(isText),
  messages: fields({ count: isWhole, digest: isText }),
});

const isNamedLayer = fields({ kind: isMiddlewareKind, ...each(isText, 'extension', 'name') });
const originChecks = new Map([
  ['prompt', isPlainObject],
  ['runtime', isPlainObject],
  ['message', fields({ id: isText })],
  ['layer', fields({ layer: isNamedLayer }, { offeredBy: isText })],
  ['tool', fields({ offeredBy: isText })],
]);

const isRequest = fields(
  {
    ...each(isText, 'provider', 'bodyDigest'),
    references: fields(
      { more: listOf(fields({ digest: isText }, { ...each(isText, 'id', 'to'), count: isWhole })) },
      { after: fields({ effect: isText, count: isWhole }) },
    ),
  },
  {
    ...each(isText, 'package', 'model', 'settings', 'output'),
    ...each(listOf(isText), 'order', 'unset', 'own'),
    parts: isPlainObject,
    origins: mapOf(isOrigin),
    stableCount: isWhole,
    cacheLost: fields(
      { ...each(isText, 'at', 'did'), by: fields({ kind: isText }, { name: isText }), tokens: isNumber },
      { position: isWhole },
    ),
  },
);

/** Only the top level is checked, because a damaged line is usually not valid JSON and was rejected before. */
const isResumePoint = fields({
  ...each(isWhole, 'events', 'nextStep'),
  effects: isPlainObject,
  intents: listOf(isText),
  steps: listOf(isPlainObject),
  usage: isPlainObject,
});

const isStatus = fields(each(isText, 'extension', 'state', 'since'), {
  ...each(isText, 'problem', 'target'),
  ...each(listOf(isText), 'lines', 'tools'),
  lost: isWhole,
  withheld: listOf(isPlainObject),
});

const isEffect = fields(
  { key: isText, kind: isText, asked: isPresent },
  { by: isPlainObject, outcome: isPlainObject, request: isRequest },
);

const checks: Readonly<Record<TraceLine['type'], (line: unknown) => boolean>> = {
  start: fields(
    {
      ...each(isText, 'turnId', 'agentName', 'instanceKey', 'traceId', 'spanId'),
      ...{ source: isPlainObject, time: isTime },
    },
    each(isText, 'input', 'parentSpanId'),
  ),
  chain: fields({ n: isWhole, chain: isSpan }, { parent: isWhole }),
  beginning: fields({ event: isPlainObject, extensions: isPresent }),
  effect: (line) => isEffect(line) && (!isSent(line) || isAsked(line['asked'])),
  end: fields(
    { time: isTime, finishReason: isText, durationMs: isNumber, stepCount: isNumber },
    {
      ...{ output: isText, error: isText, stack: isText, place: isPlace, chainsMore: isWhole },
      ...{ usage: isPlainObject, called: isPlainObject, took: listOf(isText) },
    },
  ),
  resume: fields({}, { point: isResumePoint }),
  halt: fields(
    { begun: isWhole, open: listOf(fields({ n: isWhole, stages: Array.isArray })), asked: listOf(isText) },
    { error: isPlainObject },
  ),
  status: fields({ status: isStatus }),
  dropped: fields({ count: isWhole }),
  cut: fields({}),
};

/** Makes the check of an object. The fields in `required` must be present; the fields in `optional` may be absent. */
function fields(required: Checks, optional: Checks = {}): (value: unknown) => boolean {
  const [needed, allowed] = [Object.entries(required), Object.entries(optional)];
  return (value) =>
    isPlainObject(value) &&
    needed.every(([name, check]) => check(value[name])) &&
    allowed.every(([name, check]) => value[name] === undefined || check(value[name]));
}

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

/** Gives several fields the same check. */
function each(check: Checks[string], ...names: readonly string[]): Checks {
  return Object.fromEntries(names.map((name) => [name, check]));
}

function listOf(check: Checks[string]): Checks[string] {
  return (value) => Array.isArray(value) && value.every(check);
}

function mapOf(check: Checks[string]): Checks[string] {
  return (value) => isPlainObject(value) && Object.values(value).every(check);
}

/** Returns true for an effect with a request. */
function isSent(line: unknown): line is PlainObject {
  return isPlainObject(line) && line['request'] !== undefined;
}

/** `null` takes back an origin. */
function isOrigin(value: unknown): boolean {
  if (value === null) return true;
  return isPlainObject(value) && originChecks.get(String(value['from']))?.(value) === true;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isPresent(value: unknown): boolean {
  return value !== undefined;
}

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

export function isTraceLineType(type: unknown): type is TraceLine['type'] {
  return typeof type === 'string' && Object.hasOwn(checks, type);
}

const checks: Readonly<Record<TraceLine['type'], (line: PlainObject) => boolean>> = {
  start: (line) => has(line, isText, ['turnId', 'agentName', 'instanceKey', 'traceId', 'spanId']) && isStart(line),
  chain: (line) => isWhole(line['n']) && mayHave(line, isWhole, ['parent']) && isSpan(line['chain']),
  beginning: (line) => has(line, isPlainObject, ['event']) && 'extensions' in line,
  effect: (line) =>
    has(line, isText, ['key', 'kind']) &&
    'asked' in line &&
    mayHave(line, isPlainObject, ['by', 'outcome']) &&
    mayHave(line, isRequest, ['request']),
  end: (line) => has(line, isTime, ['time']) && has(line, isText, ['finishReason']) && isEnd(line),
  resume: (line) => mayHave(line, isResumePoint, ['point']),
  halt: (line) => has(line, isWhole, ['begun']) && isHalt(line),
  status: (line) => isStatus(line['status']),
  dropped: (line) => has(line, isWhole, ['count']),
  cut: () => true,
};

type Check = (value: unknown) => boolean;

function isStart(line: PlainObject): boolean {
  return (
    has(line, isTime, ['time']) &&
    mayHave(line, isText, ['input', 'parentSpanId']) &&
    mayHave(line, isPlainObject, ['source'])
  );
}

/** Checks the top level only, because a damaged line is usually not valid JSON. */
function isResumePoint(value: unknown): boolean {
  return (
    isPlainObject(value) &&
    has(value, isWhole, ['events', 'nextStep']) &&
    has(value, isPlainObject, ['effects']) &&
    has(value, listOf(isText), ['intents']) &&
    has(value, listOf(isPlainObject), ['steps'])
  );
}

function isRequest(request: unknown): boolean {
  return (
    isPlainObject(request) &&
    has(request, isText, ['provider', 'bodyDigest']) &&
    mayHave(request, isText, ['package', 'model']) &&
    mayHave(request, isPlainObject, ['parts']) &&
    has(request, areReferences, ['references'])
  );
}

function areReferences(references: unknown): boolean {
  const isReference = (each: unknown) =>
    isPlainObject(each) && has(each, isText, ['digest']) && mayHave(each, isText, ['id']);
  const isAfter = (after: unknown) => isPlainObject(after) && isText(after['effect']) && isWhole(after['count']);
  return (
    isPlainObject(references) &&
    mayHave(references, isAfter, ['after']) &&
    has(references, listOf(isReference), ['more'])
  );
}

function isHalt(line: PlainObject): boolean {
  const isOpen = (open: unknown) => isPlainObject(open) && isWhole(open['n']) && Array.isArray(open['stages']);
  return (
    has(line, listOf(isOpen), ['open']) &&
    has(line, listOf(isText), ['asked']) &&
    mayHave(line, isPlainObject, ['error'])
  );
}

function isStatus(status: unknown): boolean {
  return (
    isPlainObject(status) &&
    has(status, isText, ['extension', 'state', 'since']) &&
    mayHave(status, isText, ['problem', 'target']) &&
    mayHave(status, isWhole, ['lost']) &&
    mayHave(status, listOf(isText), ['lines', 'tools']) &&
    mayHave(status, listOf(isPlainObject), ['withheld'])
  );
}

function isEnd(line: PlainObject): boolean {
  return (
    has(line, isNumber, ['durationMs', 'stepCount']) &&
    mayHave(line, isText, ['error', 'stack']) &&
    mayHave(line, isPlace, ['place']) &&
    mayHave(line, isWhole, ['chainsMore'])
  );
}

function isSpan(chain: unknown): boolean {
  return (
    isPlainObject(chain) &&
    has(chain, isMiddlewareKind, ['kind']) &&
    has(chain, isText, ['label', 'id']) &&
    has(chain, isNumber, ['startMs', 'totalMs']) &&
    mayHave(chain, isText, ['spanId', 'plan', 'effect', 'input', 'asked', 'outcome', 'error', 'stack']) &&
    mayHave(chain, isPlace, ['place']) &&
    mayHave(chain, isNumber, ['layersMore', 'retryMs']) &&
    mayHave(chain, isPlainObject, ['by', 'tokens']) &&
    mayHave(chain, listOf(isLayer), ['layers'])
  );
}

function isLayer(layer: unknown): boolean {
  return (
    isPlainObject(layer) &&
    has(layer, isMiddlewareKind, ['kind']) &&
    has(layer, isText, ['extension', 'name']) &&
    mayHave(layer, isText, ['outcome', 'error', 'stack']) &&
    mayHave(layer, isPlace, ['place']) &&
    mayHave(layer, isNumber, ['startMs', 'ownMs', 'totalMs', 'emittedMore', 'emittedAfter', 'drewMore']) &&
    mayHave(layer, listOf(isText), ['emitted']) &&
    mayHave(layer, listOf(isChange), ['changed', 'resultChanged', 'messages']) &&
    mayHave(layer, Array.isArray, ['drew']) &&
    mayHave(layer, isPlainObject, ['marks'])
  );
}

function isPlace(place: unknown): boolean {
  return isPlainObject(place) && has(place, isText, ['file']) && has(place, isWhole, ['line', 'column']);
}

function isChange(change: unknown): boolean {
  return isPlainObject(change) && has(change, isText, ['path']) && mayHave(change, isText, ['before', 'after']);
}

function has(fields: PlainObject, check: Check, names: readonly string[]): boolean {
  return names.every((name) => check(fields[name]));
}

function mayHave(fields: PlainObject, check: Check, names: readonly string[]): boolean {
  return names.every((name) => fields[name] === undefined || check(fields[name]));
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
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

/**
 * Compares a layer with its recording. Pure. The parts before and after `next()` are compared separately, because
 * everything inside the layer runs between them. Times are not compared.
 */
import type { Change } from '../../json/diff-json.ts';
import type { EffectRecord } from '../../trace/effect-record.ts';
import type { ChainRecord, LayerRecord } from '../../trace/turn-trace.ts';
import type { Divergence } from '../../trace/replay.ts';

export type LayerDifference = Pick<Divergence, 'what' | 'message' | 'changes'>;

/** A layer in the replay: its description, which may be cut, and digests of its complete data (`marks`). */
export interface LayerNow {
  readonly record: LayerRecord;
  readonly marks: LayerRecord['marks'] & {};
}

/** Compares the part of a layer up to its call of `next()`. */
export function compareWayIn(then: LayerRecord, { record: now, marks }: LayerNow): LayerDifference | undefined {
  if (then.outcome === 'short_circuit' || then.isBeforeNext === true)
    return endedOtherwise(describeOutcome(then), 'calls next()');
  return (
    compareChanges('field', 'changed', then.changed, now.changed) ??
    compareEvents(before(then), before(now)) ??
    compareMarks(then, now, (side) => side.in, marks)
  );
}

/** Compares a layer that has ended. If `hasGoneIn` is true, its part before `next()` was already compared. */
export function compareWayOut(
  then: LayerRecord,
  { record: now, marks }: LayerNow,
  hasGoneIn: boolean,
): LayerDifference | undefined {
  const isDone = then.outcome !== now.outcome || then.error !== now.error || then.isBeforeNext !== now.isBeforeNext;
  const [eventsThen, eventsNow] = hasGoneIn ? [after(then), after(now)] : [all(then), all(now)];
  return (
    (hasGoneIn ? undefined : compareChanges('field', 'changed', then.changed, now.changed)) ??
    compareEvents(eventsThen, eventsNow) ??
    (isDone ? endedOtherwise(describeOutcome(then), describeOutcome(now)) : undefined) ??
    compareChanges('result', 'changed in the result', then.resultChanged, now.resultChanged) ??
    compareMarks(then, now, (side) => side.out, marks) ??
    (hasGoneIn ? undefined : compareMarks(then, now, (side) => side.in, marks))
  );
}

/** Compares digests where the description was cut, in the replay, in the recording, or in both. */
function compareMarks(
  then: LayerRecord,
  now: LayerRecord,
  side: (marks: LayerNow['marks']) => string,
  marks: LayerNow['marks'],
): LayerDifference | undefined {
  if (then.marks === undefined) return now.marks === undefined ? undefined : unshown(now);
  return side(then.marks) === side(marks) ? undefined : unshown(then);
}

/**
 * Returns true if a failed layer threw its own error, which means that nothing inside it failed with the same error.
 */
export function failedItself(
  { layers, inside, id }: ChainRecord,
  index: number,
  effects: readonly EffectRecord[],
): boolean {
  const error = layers[index]?.error;
  if (error === undefined) return false;
  const inner = layers.slice(index + 1).some((layer) => layer.error === error);
  const chains = inside.some((chain) => chain.error === error);
  const asked = effects.find(({ key }) => key === id)?.outcome;
  return !inner && !chains && !(asked?.ok === false && error.includes(asked.error.message));
}

/**
 * Returns true if the turn would have been different without this layer. `threwItself`: the layer threw its own error.
 */
export function didSomething(layer: LayerRecord, threwItself: boolean): boolean {
  const { changed, resultChanged, emitted, outcome: ended } = layer;
  return (
    changed.length + resultChanged.length + emitted.length > 0 ||
    layer.isCut === true ||
    ended === 'short_circuit' ||
    ended === 'skipped' ||
    (ended === 'failed' && threwItself)
  );
}

/** Describes everything that a layer did and requested in the recording, if the agent no longer has the layer. */
export function describeGone(layer: LayerRecord, asked: readonly Change[]): LayerDifference {
  const events = all(layer).map(({ event, said }) => ({ path: event, before: said ?? event }));
  const fields = [...layer.changed, ...layer.resultChanged].map(({ path, before: from, after: to }) => ({
    path,
    before: `${from ?? 'nothing'} → ${to ?? 'nothing'}`,
  }));
  const ended = layer.outcome === 'passed' ? [] : [{ path: 'outcome', before: describeOutcome(layer) }];
  return {
    what: 'gone',
    message: 'did not run, but changed something in the recording',
    changes: [...asked, ...events, ...fields, ...ended],
  };
}

/** Makes the record of a layer that did nothing. A new layer is compared with it. */
export function asIfItDidNothing({ extension, name, kind }: LayerRecord): LayerRecord {
  const nothing = { startMs: 0, ownMs: 0, totalMs: 0, emittedMore: 0, outcome: 'passed' } as const;
  return { extension, name, kind, ...nothing, changed: [], resultChanged: [], emitted: [], messages: [] };
}

function compareChanges(
  what: 'field' | 'result',
  verb: string,
  then: readonly Change[],
  now: readonly Change[],
): LayerDifference | undefined {
  const paths = [...new Set([...then, ...now].map(({ path }) => path))];
  const differ = paths.flatMap((path): Change[] => {
    const [was, is] = [then.find((each) => each.path === path), now.find((each) => each.path === path)];
    if (was?.before === is?.before && was?.after === is?.after && (was === undefined) === (is === undefined)) return [];
    return [{ path, ...value('before', was), ...value('after', is) }];
  });
  if (differ.length === 0) return undefined;
  return {
    what,
    message: `${verb} ${differ.map(({ path }) => path || 'all of it').join(', ')} differently than in the recording`,
    changes: differ,
  };
}

/**
 * Returns an object with the value that a change gave to a field, under the key `side`. The object is empty without a
 * change. The value is `(removed)` if the field was removed.
 */
function value<Side extends 'before' | 'after'>(side: Side, change: Change | undefined): { [Key in Side]?: string } {
  if (change === undefined) return {};
  return { [side]: change.after ?? '(removed)' } as { [Key in Side]?: string };
}

interface ShownEvent {
  /** A description of the event, such as `append system <id>`. */
  readonly event: string;
  readonly said: string | undefined;
}

function compareEvents(then: readonly ShownEvent[], now: readonly ShownEvent[]): LayerDifference | undefined {
  const at = Array.from({ length: Math.max(then.length, now.length) }).findIndex(
    (_, index) => then[index]?.event !== now[index]?.event || then[index]?.said !== now[index]?.said,
  );
  if (at < 0) return undefined;
  const [was, is] = [then[at], now[at]];
  if (was === undefined)
    return message(`emitted a message event that is not in the recording: ${is?.event}`, is?.event, undefined, is);
  if (is === undefined)
    return message(`did not emit a message event of the recording: ${was.event}`, was.event, was, undefined);
  const path = was.event === is.event ? was.event : `${was.event} → ${is.event}`;
  return message(
    was.event === is.event
      ? `emitted a different message than in the recording: ${was.event}`
      : `emitted a different message event than in the recording: ${path}`,
    path,
    was,
    is,
  );
}

function message(text: string, path = '', was?: ShownEvent, is?: ShownEvent): LayerDifference {
  const change = {
    path,
    ...(was === undefined ? {} : { before: was.said ?? was.event }),
    ...(is === undefined ? {} : { after: is.said ?? is.event }),
  };
  return { what: 'message', message: text, changes: [change] };
}

function all({ emitted, messages }: LayerRecord): ShownEvent[] {
  const said = [...messages];
  return emitted.map((event) => ({
    event,
    // Only events with a message have a text, and `messages` has the texts in the order of these events.
    said: event.startsWith('append ') || event.startsWith('replace ') ? said.shift()?.after : undefined,
  }));
}

function before(layer: LayerRecord): ShownEvent[] {
  return all(layer).slice(0, layer.emitted.length - (layer.emittedAfter ?? 0));
}

function after(layer: LayerRecord): ShownEvent[] {
  return all(layer).slice(layer.emitted.length - (layer.emittedAfter ?? 0));
}

function endedOtherwise(then: string, now: string): LayerDifference {
  return {
    what: 'outcome',
    message: 'ended differently than in the recording',
    changes: [{ path: 'outcome', before: then, after: now }],
  };
}

/**
 * Returns the difference for a layer that ended without calling `next()`, although it called `next()` in the recording.
 */
export function didNotGoIn(now: LayerRecord): LayerDifference {
  return endedOtherwise('called next()', describeOutcome(now));
}

function describeOutcome({ outcome: ended, error = '' }: LayerRecord): string {
  switch (ended) {
    case 'passed':
      return 'called next() and returned';
    case 'short_circuit':
      return 'did not call next()';
    case 'running':
      return 'was running';
    default:
      return `${ended}: ${error}`;
  }
}

/** Returns the difference for data that differs only in a part that was cut. */
function unshown(then: LayerRecord): LayerDifference {
  const events = all(then).map(({ event }) => event);
  const what = [...events, ...then.changed.map(({ path }) => path), ...then.resultChanged.map(({ path }) => path)];
  const named = what.length === 0 ? '' : `: ${what.slice(0, 3).join(', ')}`;
  return {
    what: 'message',
    message: `behaved differently than in the recording, but the difference is too long to show${named}`,
    changes: [],
  };
}

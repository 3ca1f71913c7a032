/**
 * Describes a recorded chain: changes as paths with before and after, and events and errors in short form. The
 * description is made when the record is read or written, never while the chain runs.
 */
import type { AgentEvent, JsonObject, MessageEvent, ModelReply, ToolCallResult, TurnResult } from '@goondan/types';
import { defaultDiffLimits, type Diff, diffJson, type Shorten } from '../json/diff-json.ts';
import { defined } from '../json/defined.ts';
import { readField } from '../json/read-field.ts';
import { shortenMasked } from '../log/shorten-masked.ts';
import type { LocateThrown, ThrownOrigin } from '../log/locate-thrown.ts';
import { type Mask, maskTexts } from '../log/mask-secrets.ts';
import { tokensOf } from './describe-tokens.ts';
import type { ChainRecord, LayerRecord, TookRecord } from './turn-trace.ts';
import { byName, markFields, markLayer } from './mark-layer.ts';
import type { RunningSpan } from './running-span.ts';
import { withAuthor } from './show-events.ts';
import type { Difference, RecordedLayer } from './recorded-layer.ts';

/** The maximum number of characters for all changes of one chain; changes of further layers are left out. */
const CHAIN_CHARACTERS = 500_000;
const LONGEST_ERROR = 1_000;
const LONGEST_INPUT = 200;
/**
 * Matches the end of a text that `markCut` cut. A text that happens to end like this also counts as cut, which does no
 * harm.
 */
const CUT = /…(?: \(\d+ characters\))?$/;

/**
 * Describes a chain without the chains inside it, which the caller adds. `turnStartedAt`: the start of the turn on the
 * monotonic clock. `locate` finds the place where bundle code threw; without it, records have no places.
 */
export function describeSpan(recorded: RunningSpan, turnStartedAt: number, locate?: LocateThrown): ChainRecord {
  const described = describeUnmasked(recorded, turnStartedAt, locate);
  // Masks names and paths, too. Safe: the record is JSON and keeps its shape.
  return maskTexts(described as unknown as JsonObject, recorded.chain.mask) as unknown as ChainRecord;
}

/** Like `describeSpan`. Long texts are masked where they are cut; the caller masks all others. */
export function describeUnmasked(recorded: RunningSpan, turnStartedAt: number, locate?: LocateThrown): ChainRecord {
  const { chain, layersMore, retryMs, startedAt, totalMs, by } = recorded;
  const { spanIds, kind, label, id, mask } = chain;
  const writer = new ChangeWriter(mask, locate);
  return {
    kind,
    label,
    id,
    spanId: spanIds.spanId,
    ...(by === undefined ? {} : { by: { extension: by.extension, name: by.name } }),
    startMs: startedAt - turnStartedAt,
    totalMs,
    layers: recorded.layers.map((layer) => describeLayer(layer, writer, turnStartedAt)),
    inside: [],
    called: [],
    ...(chain.took === undefined ? {} : { took: chain.took.map((event) => describeTaken(event, mask)) }),
    ...defined({ layersMore, plan: chain.plan, effect: chain.effect, input: chain.input?.(), retryMs }),
    ...recorded.call,
    ...describeWait(recorded, turnStartedAt),
    ...recorded.people?.describe(),
    ...(recorded.asked === undefined ? {} : { asked: markFields(recorded.asked, mask) }),
    ...describeOutcome(recorded, writer),
  };
}

/** Describes the limit and the person that an unfinished chain waits for. */
function describeWait(recorded: RunningSpan, turnStartedAt: number): Pick<ChainRecord, 'limitWait' | 'askedMs'> {
  const { wait, outcome, askedAt } = recorded;
  if (outcome !== 'running') return {};
  return {
    ...(wait === undefined ? {} : { limitWait: { limit: wait.limit, startMs: wait.since - turnStartedAt } }),
    ...(askedAt === undefined ? {} : { askedMs: askedAt - turnStartedAt }),
  };
}

function describeTaken({ id, source, input = '' }: AgentEvent, mask: Mask): TookRecord {
  return { eventId: id, source, input: shortenMasked(mask)(input, LONGEST_INPUT) };
}

/** Describes a single layer, up to its current stage. */
export function describeOneLayer(recorded: RecordedLayer, mask: Mask): LayerRecord {
  const described = describeLayer(recorded, new ChangeWriter(mask), 0);
  return maskTexts(described as unknown as JsonObject, mask) as unknown as LayerRecord;
}

function describeLayer(recorded: RecordedLayer, writer: ChangeWriter, turnStartedAt: number): LayerRecord {
  const { layer, ownMs, totalMs, outcome, error, emittedMore = 0, events = [], startedAt } = recorded;
  const { authors, drew, drewMore, emittedBefore, hasGoneIn, stage, people, notes } = recorded;
  writer.hasShortened = events.some(hasMore);
  const { extension, name, kind } = layer;
  const changed = writer.diff(byName(recorded.changed));
  const resultChanged = writer.diff(recorded.resultChanged);
  const messages = writer.messages(events);
  const emittedAfter = emittedBefore < 0 ? 0 : events.length - emittedBefore;
  const isCut = changed.isCut || resultChanged.isCut || messages.isCut;
  return {
    extension,
    name,
    kind,
    startMs: startedAt - turnStartedAt,
    ownMs,
    ...people?.describe(),
    ...(notes === undefined ? {} : { notes: [...notes] }),
    totalMs,
    outcome,
    ...(stage === undefined ? {} : { stage }),
    ...(!hasGoneIn && (outcome === 'failed' || outcome === 'skipped') ? { isBeforeNext: true } : {}),
    ...(outcome === 'failed' && recorded.hasResult === true ? { isAfterNext: true } : {}),
    changed: changed.changes,
    resultChanged: resultChanged.changes,
    emitted: events.map((event) => withAuthor(describeEvent(event), authors?.get(event))),
    emittedMore,
    ...(emittedAfter === 0 ? {} : { emittedAfter }),
    messages: messages.changes,
    ...(isCut ? { isCut } : {}),
    ...(isCut || writer.hasShortened ? { marks: markLayer(recorded, writer.mask) } : {}),
    ...(drew === undefined ? {} : { drew: [...drew] }),
    ...(drewMore === undefined ? {} : { drewMore }),
    ...(error === undefined ? {} : { error: writer.error(error), ...writer.origin(error, extension) }),
  };
}

function describeOutcome(recorded: RunningSpan, writer: ChangeWriter): Partial<ChainRecord> {
  if (recorded.outcome === 'running') return { isUnfinished: true };
  if (recorded.outcome === 'failed') return { error: writer.error(recorded.error), ...writer.place(recorded.error) };
  // Safe: the type of the result was checked when the chain ended.
  switch (recorded.chain.kind) {
    case 'turn': {
      const { finishReason, error } = recorded.result as TurnResult;
      return { outcome: finishReason, ...(error === undefined ? {} : { error: writer.error(error) }) };
    }
    case 'toolCall': {
      const { status, error } = recorded.result as ToolCallResult;
      if (status === 'ok' || error === undefined) return { outcome: status };
      return { outcome: status, error: writer.error(error), ...writer.locate(recorded.chain.thrown?.()) };
    }
    case 'model': {
      const { finishReason, usage } = recorded.result as ModelReply;
      return { outcome: finishReason, tokens: tokensOf(usage) };
    }
    case 'step':
      return {};
  }
}

class ChangeWriter {
  /** True when a value was shortened. */
  hasShortened = false;
  readonly #shorten: Shorten;
  #left = CHAIN_CHARACTERS;

  constructor(
    readonly mask: Mask,
    readonly locate: LocateThrown = nowhere,
  ) {
    const shorten = shortenMasked(mask);
    this.#shorten = (value, longest) => {
      const text = shorten(value, longest);
      this.hasShortened ||= CUT.test(text);
      return text;
    };
  }

  diff(difference: Difference | undefined): Diff {
    if (difference === undefined) return nothing;
    if (this.#left <= 0) return { changes: [], isCut: true };
    const { before, after } = difference;
    return this.#count(diffJson(before, after, defaultDiffLimits, this.#shorten));
  }

  /** Lists the messages in the events. For a `replace` event, lists only the new message. */
  messages(events: readonly MessageEvent[]): Diff {
    const put = events.flatMap((event) => ('message' in event ? [event] : []));
    if (put.length === 0) return nothing;
    if (this.#left <= 0) return { changes: [], isCut: true };
    const { changes: most, characters } = defaultDiffLimits;
    const changes = put.slice(0, most).map((event) => ({
      path: event.type === 'replace' ? event.targetId : event.message.id,
      after: this.#shorten(event.message.data.content, characters),
    }));
    return this.#count({ changes, isCut: put.length > most });
  }

  error(thrown: unknown): string {
    return this.#shorten(shownError(thrown), LONGEST_ERROR);
  }

  /**
   * Returns the origin of an error that the code of this extension threw. Returns an empty object if the extension only
   * passed the error on.
   */
  origin(thrown: unknown, extension: string): ThrownOrigin {
    return readField(thrown, 'extensionName') === extension ? this.locate(thrown) : {};
  }

  /** Returns the place of an error that any layer threw. */
  place(thrown: unknown): Pick<ThrownOrigin, 'place'> {
    const { place } = readField(thrown, 'extensionName') === undefined ? nowhere() : this.locate(thrown);
    return place === undefined ? {} : { place };
  }

  #count(diff: Diff): Diff {
    for (const { before = '', after = '' } of diff.changes) this.#left -= before.length + after.length;
    return diff;
  }
}

function nowhere(): ThrownOrigin {
  return {};
}

const nothing: Diff = { changes: [], isCut: false };

/** Returns true if an event contains more than an id, a role and content. */
function hasMore(event: MessageEvent): boolean {
  if (!('message' in event)) return false;
  const { metadata, lifetime } = event.message;
  return lifetime !== undefined || Object.keys(metadata).length > 0;
}

function describeEvent(event: MessageEvent): string {
  switch (event.type) {
    case 'append':
      return `append ${event.message.data.role} ${event.message.id}`;
    case 'replace':
      return `replace ${event.targetId}`;
    case 'remove':
      return `remove ${event.targetId}`;
    case 'truncate':
      return 'truncate';
  }
}

/** Returns the text of an error. Any other value is returned itself. */
function shownError(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null) return thrown;
  const { code, message } = thrown as Partial<Record<'code' | 'message', unknown>>;
  if (typeof message !== 'string') return thrown;
  return typeof code === 'string' ? `${code}: ${message}` : message;
}

/**
 * What was kept of a chain, in words: changes as paths with before and after, events and errors in short. Done when
 * somebody wants to read it, never while the chain runs.
 */
import type { JsonObject, MessageEvent, ModelReply, ToolCallResult, TurnResult } from '@goondan/types';
import { cutJson, type Diff, diffJson, type DiffLimits, type Shorten } from '../json/diff-json.ts';
import { shortenMasked } from '../json/shorten-masked.ts';
import { type Mask, maskJson } from '../log/mask-secrets.ts';
import type { ChainRecord, LayerRecord } from './chain-record.ts';
import type { RecordedChain } from './recorded-chain.ts';
import type { Difference, RecordedLayer } from './recorded-layer.ts';

export interface DescribeOptions {
  /** When its turn began, on the clock that only grows. */
  readonly turnStartedAt: number;
  readonly limits?: DescribeLimits;
}

export interface DescribeLimits extends DiffLimits {
  /** Characters of all changes of one chain; past it a layer's changes are left out. */
  readonly chainCharacters: number;
}

const defaultLimits: DescribeLimits = { changes: 50, characters: 2_000, chainCharacters: 500_000 };
const LONGEST_ERROR = 1_000;
/** Catalogs are compared by the names of their tools, not by their places. */
const CATALOGS = ['toolCatalog', 'tools'];

/** Without the chains inside it. */
export function describeChain(recorded: RecordedChain, options: DescribeOptions): Omit<ChainRecord, 'inside'> {
  const { chain, layersMore, retryMs, startedAt, totalMs } = recorded;
  const { spanIds, kind, label, id, mask } = chain;
  const writer = new ChangeWriter(mask, options);
  const input = chain.input?.();
  const described: Omit<ChainRecord, 'inside'> = {
    kind,
    label,
    id,
    spanId: spanIds.spanId,
    startMs: startedAt - options.turnStartedAt,
    totalMs,
    layers: recorded.layers.map((layer) => describeLayer(layer, writer, options.turnStartedAt)),
    ...(layersMore === 0 ? {} : { layersMore }),
    ...(input === undefined ? {} : { input }),
    ...describeOutcome(recorded, writer),
    ...(retryMs === undefined ? {} : { retryMs }),
  };
  // Names and paths too. It is JSON, and stays what it is.
  return maskJson(described as unknown as JsonObject, mask) as unknown as typeof described;
}

function describeLayer(recorded: RecordedLayer, writer: ChangeWriter, turnStartedAt: number): LayerRecord {
  const { layer, ownMs, totalMs, outcome, error, emittedMore, events = [], startedAt } = recorded;
  const { extension, name, kind } = layer;
  const changed = writer.diff(byName(recorded.changed));
  const resultChanged = writer.diff(recorded.resultChanged);
  const messages = writer.messages(events);
  return {
    extension,
    name,
    kind,
    startMs: startedAt - turnStartedAt,
    ownMs,
    totalMs,
    outcome,
    changed: changed.changes,
    resultChanged: resultChanged.changes,
    emitted: events.map(describeEvent),
    emittedMore,
    messages: messages.changes,
    ...(changed.isCut || resultChanged.isCut || messages.isCut ? { isCut: true } : {}),
    ...(error === undefined ? {} : { error: writer.error(error) }),
  };
}

function describeOutcome(recorded: RecordedChain, writer: ChangeWriter): Partial<ChainRecord> {
  if (recorded.outcome === 'running') return { isUnfinished: true };
  if (recorded.outcome === 'failed') return { error: writer.error(recorded.error) };
  // The chain has just checked what its kind of result is.
  switch (recorded.chain.kind) {
    case 'turn': {
      const { finishReason, error } = recorded.result as TurnResult;
      return { outcome: finishReason, ...(error === undefined ? {} : { error: writer.error(error) }) };
    }
    case 'toolCall': {
      const { status, error } = recorded.result as ToolCallResult;
      return { outcome: status, ...(error === undefined ? {} : { error: writer.error(error) }) };
    }
    case 'model': {
      const { finishReason, usage } = recorded.result as ModelReply;
      return { outcome: finishReason, tokens: { input: usage.inputTokens, output: usage.outputTokens } };
    }
    default:
      return {};
  }
}

class ChangeWriter {
  readonly #limits: DescribeLimits;
  readonly #shorten: Shorten;
  #left: number;

  constructor(mask: Mask, { limits = defaultLimits }: DescribeOptions) {
    this.#limits = limits;
    this.#shorten = shortenMasked(mask);
    this.#left = limits.chainCharacters;
  }

  diff(difference: Difference | undefined): Diff {
    if (difference === undefined) return nothing;
    if (this.#left <= 0) return { changes: [], isCut: true };
    const { before, after } = difference;
    return this.#count(diffJson(before, after, this.#limits, this.#shorten));
  }

  /** What events put into messages: of a replaced one, only what it became. */
  messages(events: readonly MessageEvent[]): Diff {
    const put = events.flatMap((event) => ('message' in event ? [event] : []));
    if (put.length === 0) return nothing;
    if (this.#left <= 0) return { changes: [], isCut: true };
    const { changes: most, characters } = this.#limits;
    const changes = put.slice(0, most).map((event) => ({
      path: event.type === 'replace' ? event.targetId : event.message.id,
      after: this.#shorten(event.message.data.content, characters),
    }));
    return this.#count({ changes, isCut: put.length > most });
  }

  error(thrown: unknown): string {
    return this.#shorten(errorText(thrown), LONGEST_ERROR);
  }

  #count(diff: Diff): Diff {
    for (const { before = '', after = '' } of diff.changes) this.#left -= before.length + after.length;
    return diff;
  }
}

const nothing: Diff = { changes: [], isCut: false };

function byName(difference: Difference | undefined): Difference | undefined {
  if (difference === undefined) return undefined;
  return { before: withNames(difference.before), after: withNames(difference.after) };
}

function withNames(fields: unknown): unknown {
  const entries = Object.entries(fields as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, CATALOGS.includes(name) && Array.isArray(value) ? toNamed(value) : value]),
  );
}

function toNamed(items: readonly unknown[]): unknown {
  const names = items.map((item) =>
    typeof item === 'object' && item !== null ? Reflect.get(item, 'name') : undefined,
  );
  const areNames = names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
  return areNames ? Object.fromEntries(items.map((item, index) => [names[index], item])) : items;
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

function errorText(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return typeof thrown === 'string' ? thrown : cutJson(thrown, 100);
  const { code, message } = thrown as Partial<Record<'code' | 'message', unknown>>;
  if (typeof message !== 'string') return cutJson(thrown, LONGEST_ERROR);
  return typeof code === 'string' ? `${code}: ${message}` : message;
}

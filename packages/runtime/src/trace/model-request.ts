/**
 * Requests to a model. `ModelRequestRecord` is the short form, which is enough to compare two requests and to show the
 * difference. `RequestReferences` has a digest of the sent body, and references from which the request can be
 * reconstructed. A conversation is not copied: each message or tool is written once per run, and later requests refer
 * to it.
 */
import type { JsonSchema, JsonValue, ModelMessage, ModelParams, ToolCatalogItem } from '@goondan/types';
import { isJson } from '../json/copy-json.ts';
import { defined } from '../json/defined.ts';
import { digestJson } from '../json/digest-json.ts';
import type { Shorten } from '../json/diff-json.ts';
import type { CacheLoss } from './cache-loss.ts';
import { type DigestedMessages, MessageDigests, type MessageRun } from './message-digests.ts';

/** A request to a model, before it is sent. */
export interface AskedModel {
  /** The extension whose layer makes the request; absent when a step makes the request. */
  readonly extension?: string | undefined;
  readonly modelRef: string;
  readonly params: ModelParams;
  readonly tools: readonly ToolCatalogItem[];
  /** The JSON Schema of the answer, if the model takes one; frozen. */
  readonly outputSchema?: JsonSchema;
  /** The messages, which are no longer changed. */
  readonly messages: readonly ModelMessage[];
  /** Returns the id of a message in the conversation; undefined when the message is not in the conversation. */
  readonly idOf?: (message: ModelMessage) => string | undefined;
  /** Returns true if the message `id` is the successor of the message `other` in the conversation. */
  readonly follows?: (id: string, other: string) => boolean;
  /** The number of leading messages that stay in the conversation; undefined for a call by a layer. */
  readonly stableCount?: number | undefined;
  /** Set when the provider could not read from its cache what the last request had left there. */
  cacheLost?: CacheLoss;
  /** Set when the model has sent a request, with a digest of the body if there is one. */
  sent?: Omit<SentRequest, 'body'> & Partial<Pick<RequestReferences, 'bodyDigest'>>;
}

/** The report of a model about a request that it sends. */
export interface SentRequest {
  /** The provider's name in a Model resource, such as `anthropic`. */
  readonly provider: string;
  /** The package that built the body, with its version, such as `@ai-sdk/anthropic@4.0.102`. */
  readonly package?: string;
  /** The provider's own name of the model. */
  readonly model?: string;
  /**
   * The body of the HTTP request. Absent for a model without a network, which gets the request in the runtime's own
   * form.
   */
  readonly body?: string;
}

/** A type alias, because an interface would not count as JSON. */
export type ModelRequestRecord = {
  readonly modelRef: string;
  readonly params: { readonly [name: string]: JsonValue };
  /** A digest of each tool, by its name. */
  readonly tools: { readonly [name: string]: string };
  /** A digest of the schema that the model got for its answer; absent when it got none. */
  readonly output?: string;
  readonly messages: {
    readonly count: number;
    /** A digest of all messages. */
    readonly digest: string;
    /** The beginnings of the first and last messages, by position and role. */
    readonly shown: { readonly [place: string]: string };
  };
};

/** A type alias, because an interface would not count as JSON. */
export type RequestReferences = Omit<SentRequest, 'body'> & {
  /** SHA-256 of the sent body; for a model without a network, of the runtime's own request. */
  readonly bodyDigest: string;
  /** The number of leading messages that stay in the conversation. The body depends on it. Absent for a call by a layer. */
  readonly stableCount?: number;
  /** The reason why the provider could not read from its cache what the last request had left there. */
  readonly cacheLost?: CacheLoss;
  /** The messages in order: the first `count` messages of an earlier request of the run, followed by `more`. */
  readonly references: {
    readonly after?: { readonly effect: string; readonly count: number };
    readonly more: readonly (ReferredMessage | ReferredRun)[];
  };
  /** The digest of the schema for the answer, which is in `parts`; absent when the model got none. */
  readonly output?: string;
  /**
   * Messages that are not in the conversation, tools and schemas for answers, by digest. Parts that an earlier request of the run already
   * has are left out.
   */
  readonly parts?: { readonly [digest: string]: JsonValue };
};

/** A message, by its digest and its id in the conversation. A message without an id is in `parts`. */
type ReferredMessage = { readonly id?: string; readonly digest: string };

/**
 * Many messages that follow each other in the conversation: the `count` messages from `id` to `to`, as the model saw them.
 * The digest is of their digests.
 */
type ReferredRun = { readonly id: string; readonly to: string; readonly count: number; readonly digest: string };

/** The requests of a run that were already written. */
export class WrittenRequests {
  readonly parts = new Set<string>();
  /**
   * The newest request of each asker, with the digests of its messages. An asker is an extension, or undefined for the
   * steps. The asker with the oldest request comes first.
   */
  readonly #newest = new Map<
    AskedModel['extension'],
    { readonly effect: string; readonly digests: readonly string[]; readonly count: number }
  >();

  /**
   * Finds the request whose first messages have the most in common with these digests; undefined when not even the
   * first message is the same.
   */
  closest(digests: readonly string[]): RequestReferences['references']['after'] {
    let found: RequestReferences['references']['after'];
    for (const { effect, digests: before, count: most } of this.#newest.values()) {
      const count = countSame(before, digests, most);
      if (count > (found?.count ?? 0)) found = { effect, count };
    }
    return found;
  }

  /**
   * Adds a request, in place of the asker's last one. If an extension makes a request between two steps, the request of
   * the first step is still there, so the second step need not list its whole conversation again.
   */
  add(asker: AskedModel['extension'], effect: string, digests: readonly string[]): void {
    this.#newest.delete(asker);
    // The list may grow with the next request.
    this.#newest.set(asker, { effect, digests, count: digests.length });
    const [silent] = this.#newest.keys();
    if (this.#newest.size > MOST_ASKERS) this.#newest.delete(silent);
  }
}

const MOST_ASKERS = 8;
/** The maximum number of messages of a run that are listed one by one. */
const MOST_LISTED = 16;
const MOST_SHOWN = 12;
const LONGEST_SHOWN = 300;
const DIGITS = 16;
/**
 * The maximum number of characters of the parts of one request. Longer parts are not kept, and the request cannot be
 * reconstructed.
 */
const LONGEST_PARTS = 1_000_000;

/**
 * Records requests. Every step sends the same messages again, so the digest of each immutable message is computed once.
 */
export class RequestRecorder {
  readonly #known = new WeakMap<object, string>();
  readonly #messages = new MessageDigests((message) => this.#digest(message));
  /** The beginnings of immutable messages, as shortened with the mask of this version. */
  #shown = new WeakMap<object, string>();
  #version: unknown;

  /** `version`: the version of the mask with which `shorten` masks; see `versionOf`. */
  record(
    { extension, modelRef, params, tools, outputSchema, messages, idOf, follows }: AskedModel,
    shorten: Shorten,
    version: unknown,
  ): ModelRequestRecord {
    if (version !== this.#version) this.#shown = new WeakMap();
    this.#version = version;
    return {
      modelRef,
      params: asJson(params) as ModelRequestRecord['params'],
      tools: this.#digestTools(tools),
      ...this.#digestOutput(outputSchema),
      messages: {
        count: messages.length,
        digest: this.#messages.of(extension, messages, idOf, follows).digest.slice(0, DIGITS),
        shown: this.#showEnds(messages, shorten),
      },
    };
  }

  /** Shows the first message and the last ones. */
  #showEnds(messages: readonly ModelMessage[], shorten: Shorten): Record<string, string> {
    const shown: Record<string, string> = {};
    const from = Math.max(0, messages.length - MOST_SHOWN);
    for (let at = 0; at < messages.length; at = Math.max(at + 1, from)) {
      const message = messages[at];
      if (message !== undefined) shown[`${at} ${message.role}`] = this.#show(message, shorten);
    }
    return shown;
  }

  #show(message: ModelMessage, shorten: Shorten): string {
    const known = this.#shown.get(message);
    if (known !== undefined) return known;
    const shown = shorten(message.content, LONGEST_SHOWN);
    if (Object.isFrozen(message)) this.#shown.set(message, shown);
    return shown;
  }

  /** Returns undefined when nothing was sent. `effect`: the key under which the request is recorded. */
  refer(effect: string, asked: AskedModel, written: WrittenRequests): RequestReferences | undefined {
    const { sent, messages, tools, outputSchema } = asked;
    if (sent === undefined) return undefined;
    const digested = this.#messages.of(asked.extension, messages, asked.idOf, asked.follows);
    const { digests } = digested;
    const after = written.closest(digests);
    const { more, outside } = this.#list(digested, after?.count ?? 0, asked.idOf);
    const parts = this.#newParts(
      [...outside, ...tools, ...(outputSchema === undefined ? [] : [outputSchema])],
      written,
    );
    written.add(asked.extension, effect, digests);
    return {
      ...sent,
      bodyDigest: sent.bodyDigest ?? this.#digestRequest(asked, digested.digest),
      ...defined({ stableCount: asked.stableCount, cacheLost: asked.cacheLost }),
      references: { ...(after === undefined ? {} : { after }), more },
      ...this.#digestOutput(outputSchema),
      ...(Object.keys(parts).length > 0 && { parts }),
    };
  }

  /**
   * Lists the messages from this position on. `outside`: those that are not in the conversation. A long run is one entry,
   * so that a request does not list the whole conversation.
   */
  #list({ messages, runs }: DigestedMessages, from: number, idOf: AskedModel['idOf']) {
    const more: (ReferredMessage | ReferredRun)[] = [];
    const outside: ModelMessage[] = [];
    let at = from;
    const listUntil = (end: number) => {
      for (const message of messages.slice(at, end)) {
        const id = idOf?.(message);
        more.push({ ...(id === undefined ? {} : { id }), digest: this.#shortDigest(message) });
        if (id === undefined) outside.push(message);
      }
      at = end;
    };
    for (const { start, count, id, to, digest } of longRunsFrom(runs, from)) {
      listUntil(start);
      more.push({ id, to, count, digest: digest.slice(0, DIGITS) });
      at = start + count;
    }
    listUntil(messages.length);
    return { more, outside };
  }

  #newParts(parts: readonly object[], written: WrittenRequests): Record<string, JsonValue> {
    const found: Record<string, JsonValue> = {};
    let left = LONGEST_PARTS;
    for (const part of parts) {
      const digest = this.#shortDigest(part);
      if (written.parts.has(digest)) continue;
      const value = asJson(part);
      left -= JSON.stringify(value).length;
      if (left < 0) break;
      written.parts.add(digest);
      found[digest] = value;
    }
    return found;
  }

  /** Computes the digest from the digests of the parts, so that a long conversation is not serialised in every step. */
  #digestRequest({ params, tools, outputSchema }: AskedModel, messages: string): string {
    const output = this.#digestOutput(outputSchema);
    return digestJson({ params: asJson(params), tools: this.#digestTools(tools), ...output, messages });
  }

  #digestOutput(schema: JsonSchema | undefined): { readonly output?: string } {
    return schema === undefined ? {} : { output: this.#shortDigest(schema) };
  }

  #digestTools(tools: AskedModel['tools']): Record<string, string> {
    return Object.fromEntries(tools.map((tool) => [tool.name, this.#shortDigest(tool)]));
  }

  #shortDigest(part: object): string {
    return this.#digest(part).slice(0, DIGITS);
  }

  #digest(part: object): string {
    const known = this.#known.get(part);
    if (known !== undefined) return known;
    const digest = digestJson(asJson(part));
    if (Object.isFrozen(part)) this.#known.set(part, digest);
    return digest;
  }
}

/** Returns the runs that begin at this position or after it and are too long to be listed one by one. */
function longRunsFrom(runs: readonly MessageRun[], from: number): readonly MessageRun[] {
  let first = runs.length;
  while (first > 0 && (runs[first - 1]?.start ?? 0) >= from) first -= 1;
  return runs.slice(first).filter(({ count }) => count > MOST_LISTED);
}

/** Counts the digests that are the same at the beginning: at most `most`, the number that counts in `before`. */
function countSame(before: readonly string[], now: readonly string[], most: number): number {
  const longest = Math.min(most, now.length);
  if (before === now) return longest;
  let count = 0;
  while (count < longest && now[count] === before[count]) count += 1;
  return count;
}

/**
 * Converts a value to JSON, since a layer may have put anything into a request. A bigint, an object that contains
 * itself and a value that cannot be read become texts. Everything else that is not JSON is dropped.
 */
function asJson(value: unknown, replacer?: ReturnType<typeof unfitReplacer>): JsonValue {
  try {
    // Safe: `isJson` has just checked the value. Messages are JSON, and need no copy.
    if (isJson(value, false)) return value as JsonValue;
    return JSON.parse(JSON.stringify(value, replacer) ?? 'null') as JsonValue;
  } catch {
    // With the replacer, only a getter or a `toJSON` of the value can throw.
    return replacer === undefined ? asJson(value, unfitReplacer()) : '(cannot be read)';
  }
}

/**
 * Makes a replacer for JSON.stringify, which calls it with the enclosing object as `this`. So the replacer knows all
 * objects around a value.
 */
function unfitReplacer(): (this: unknown, key: string, given: unknown) => unknown {
  const above: unknown[] = [];
  return function replace(_key, given) {
    if (typeof given === 'bigint') return `${given}n`;
    if (typeof given !== 'object' || given === null) return given;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(given)) return '(a cycle)';
    above.push(given);
    return given;
  };
}

/**
 * Requests to a model. `ModelRequestRecord` is the short form, which is enough to compare two requests and to show the
 * difference. `RequestReferences` has a digest of the sent body, and references from which the request can be
 * reconstructed. A conversation is not copied: each message or tool is written once per run, and later requests refer
 * to it.
 */
import type { JsonObject, JsonSchema, JsonValue, ModelMessage, ModelParams, ToolCatalogItem } from '@goondan/types';
import { defined } from '../json/defined.ts';
import { digestJson } from '../json/digest-json.ts';
import type { Shorten } from '../json/diff-json.ts';
import { readField } from '../json/read-field.ts';
import { sha256 } from '../json/sha256.ts';
import { type Mask, noSecrets } from '../log/mask-secrets.ts';
import { asJson } from './as-json.ts';
import type { CacheLoss } from './cache-loss.ts';
import { type DigestedMessages, MessageDigests, type MessageRun } from './message-digests.ts';
import { type ChangingLayer, LayerParts, type PartOrigin } from './part-origins.ts';
import type { WrittenRequests } from './written-requests.ts';

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
  /** Returns the origin of a message that the runtime added to those of the conversation. */
  readonly originOf?: (message: ModelMessage) => PartOrigin | undefined;
  /** Returns the resource that offers a tool: `Tool/weather`, `Extension/notes`. */
  readonly offererOf?: (tool: string) => string | undefined;
  /** For a request of a layer: the fields that the layer set itself, such as `modelRef` and `params.temperature`. */
  readonly own?: readonly string[] | undefined;
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
  /**
   * Everything else that shapes the body: the model's own params and options, without keys, addresses and headers.
   * Frozen, and the same object in every request of the model.
   */
  readonly settings?: JsonObject;
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
export type RequestReferences = Omit<SentRequest, 'body' | 'settings'> & {
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
  /** The digest of the settings of the model, which are one of the parts. */
  readonly settings?: string;
  /** The digests of the tools in order; absent when the order is that of `tools`. */
  readonly order?: readonly string[];
  /** The params that are present without a value, and so take the place of the model's own. */
  readonly unset?: readonly string[];
  /** For a request of a layer: the fields that the layer set itself, such as `modelRef` and `params.temperature`. */
  readonly own?: readonly string[];
  /**
   * Messages that are not in the conversation, tools, schemas for answers and settings, by digest. Parts that an earlier
   * request of the run already has are left out.
   */
  readonly parts?: { readonly [digest: string]: JsonValue };
  /**
   * The origins of messages that are not in the conversation, and of tools, by digest. Origins that an earlier request
   * of the run already has are left out; `null` takes back such an origin.
   */
  readonly origins?: { readonly [digest: string]: PartOrigin | null };
};

/** A message, by its digest and its id in the conversation. A message without an id is in `parts`. */
export type ReferredMessage = { readonly id?: string; readonly digest: string };

/**
 * Many messages that follow each other in the conversation: the `count` messages from `id` to `to`, as the model saw them.
 * The digest is of their digests.
 */
export type ReferredRun = { readonly id: string; readonly to: string; readonly count: number; readonly digest: string };

/** The maximum number of messages of a run that are listed one by one. */
const MOST_LISTED = 16;
const MOST_SHOWN = 12;
const LONGEST_SHOWN = 300;
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

  /**
   * Returns undefined when nothing was sent. `effect`: the key under which the request is recorded. `changers`: the
   * layers that may have changed the request, innermost first, and the mask of the request.
   */
  refer(
    effect: string,
    asked: AskedModel,
    written: WrittenRequests,
    changers: { readonly layers: readonly ChangingLayer[]; readonly mask: Mask } = { layers: [], mask: noSecrets },
  ): RequestReferences | undefined {
    if (asked.sent === undefined) return undefined;
    const { messages, tools, params, own, outputSchema } = asked;
    const { settings, ...sent } = asked.sent;
    const digested = this.#messages.of(asked.extension, messages, asked.idOf, asked.follows);
    const { digests } = digested;
    const after = written.closest(asked.extension, digests);
    const { more, outside } = this.#list(digested, after?.count ?? 0, asked.idOf);
    const others = [settings, outputSchema].filter((part) => part !== undefined);
    const parts = this.#newParts([...others, ...outside, ...tools], written);
    const layers = changers.layers.filter(({ changed }) => changed !== undefined);
    const put = new LayerParts(layers, (part) => this.#shortDigest(part), changers.mask);
    // An agent offers the same list in each step.
    const isSameList = layers.length === 0 && asked.extension === undefined && written.tools === tools;
    if (Object.isFrozen(tools)) written.tools = tools;
    const origins = written.newOrigins([
      ...put.originsOfMessages(outside, asked),
      ...(isSameList ? [] : put.originsOfTools(asked)),
    ]);
    written.add(asked.extension, effect, digests);
    return {
      ...sent,
      bodyDigest: sent.bodyDigest ?? this.#digestRequest(asked, digested.digest),
      ...defined({ stableCount: asked.stableCount, cacheLost: asked.cacheLost }),
      references: { ...(after === undefined ? {} : { after }), more },
      ...this.#digestOutput(outputSchema),
      ...(settings === undefined ? {} : { settings: this.#shortDigest(settings) }),
      ...this.#orderOf(tools),
      ...unsetIn(params),
      ...(own === undefined ? {} : { own }),
      ...(Object.keys(parts).length > 0 && { parts }),
      ...(Object.keys(origins).length > 0 && { origins }),
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
      const known = written.forms.get(part);
      if (known !== undefined && written.parts.get(digest) === known) continue;
      const value = asJson(part);
      const text = JSON.stringify(value);
      const form = known ?? sha256(text).slice(0, DIGITS);
      if (Object.isFrozen(part)) written.forms.set(part, form);
      if (written.parts.get(digest) === form) continue;
      left -= text.length;
      if (left < 0) break;
      written.parts.set(digest, form);
      found[digest] = value;
    }
    return found;
  }

  /** Lists the tools in order. An object has keys like `1` first, and each key once. */
  #orderOf(tools: AskedModel['tools']): Pick<RequestReferences, 'order'> {
    const names = tools.map(({ name }) => name);
    const isKept = Object.keys(Object.fromEntries(names.map((name) => [name, 0]))).every(
      (name, at) => name === names[at],
    );
    return isKept && new Set(names).size === names.length
      ? {}
      : { order: tools.map((tool) => this.#shortDigest(tool)) };
  }

  #digestRequest({ params, tools, outputSchema }: AskedModel, messages: string): string {
    const output = this.#digestOutput(outputSchema);
    return digestRequest({ params: asJson(params), tools: this.#digestTools(tools), ...output, messages });
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

function unsetIn(params: ModelParams): Pick<RequestReferences, 'unset'> {
  // `readField` returns undefined for a value that cannot be read, too; such params are a text in the record.
  const names = Object.keys(params ?? {}).filter((name) => readField(params, name) === undefined);
  return names.length === 0 ? {} : { unset: names };
}

/** The number of digits of the digest of a part. */
export const DIGITS = 16;

/**
 * Computes the digest of the runtime's own request, for a model without a body. It is made of the digests of the parts, so
 * that a long conversation is not serialised in every step. `messages`: the digest of the digests of all messages.
 */
export function digestRequest(request: {
  readonly params: JsonValue;
  readonly tools: { readonly [name: string]: string };
  /** The digest of the schema for the answer. */
  readonly output?: string;
  readonly messages: string;
}): string {
  return digestJson({ ...request });
}

/** Returns the runs that begin at this position or after it and are too long to be listed one by one. */
function longRunsFrom(runs: readonly MessageRun[], from: number): readonly MessageRun[] {
  let first = runs.length;
  while (first > 0 && (runs[first - 1]?.start ?? 0) >= from) first -= 1;
  return runs.slice(first).filter(({ count }) => count > MOST_LISTED);
}

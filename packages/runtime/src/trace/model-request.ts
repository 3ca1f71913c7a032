/**
 * Requests to a model. `ModelRequestRecord` is the short form, which is enough to compare two requests and to show the
 * difference. `RequestReferences` has a digest of the sent body, and references from which the request can be
 * reconstructed. A conversation is not copied: each message or tool is written once per run, and later requests refer
 * to it.
 */
import type { JsonValue, ModelMessage, ModelParams, ToolCatalogItem } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';
import type { Shorten } from '../json/diff-json.ts';
import { MessageDigests } from './message-digests.ts';

/** A request to a model, before it is sent. */
export interface AskedModel {
  /** The extension whose layer makes the request; absent when a step makes the request. */
  readonly extension?: string | undefined;
  readonly modelRef: string;
  readonly params: ModelParams;
  readonly tools: readonly ToolCatalogItem[];
  /** The messages, which are no longer changed. */
  readonly messages: readonly ModelMessage[];
  /** Returns the id of a message in the conversation; undefined when the message is not in the conversation. */
  idOf?(message: ModelMessage): string | undefined;
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
  /** The messages in order: the first `count` messages of an earlier request of the run, followed by `more`. */
  readonly references: {
    readonly after?: { readonly effect: string; readonly count: number };
    /** Each message, by its digest and its id in the conversation. A message without an id is in `parts`. */
    readonly more: readonly { readonly id?: string; readonly digest: string }[];
  };
  /**
   * Messages that are not in the conversation, and tools, by digest. Parts that an earlier request of the run already
   * has are left out.
   */
  readonly parts?: { readonly [digest: string]: JsonValue };
};

/** The requests of a run that were already written. */
export class WrittenRequests {
  readonly parts = new Set<string>();
  /**
   * The newest request of each asker, with the digests of its messages. An asker is an extension, or undefined for the
   * steps. The asker with the oldest request comes first.
   */
  readonly #newest = new Map<
    AskedModel['extension'],
    { readonly effect: string; readonly digests: readonly string[] }
  >();

  /**
   * Finds the request whose first messages have the most in common with these digests; undefined when not even the
   * first message is the same.
   */
  closest(digests: readonly string[]): RequestReferences['references']['after'] {
    let found: RequestReferences['references']['after'];
    for (const { effect, digests: before } of this.#newest.values()) {
      const count = countSame(before, digests);
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
    this.#newest.set(asker, { effect, digests });
    const [silent] = this.#newest.keys();
    if (this.#newest.size > MOST_ASKERS) this.#newest.delete(silent);
  }
}

const MOST_ASKERS = 8;
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

  record({ extension, modelRef, params, tools, messages }: AskedModel, shorten: Shorten): ModelRequestRecord {
    const last = messages.slice(-MOST_SHOWN);
    const from = messages.length - last.length;
    const shown = [
      ...(from > 0 ? [[0, messages[0]] as const] : []),
      ...last.map((each, at) => [from + at, each] as const),
    ];
    return {
      modelRef,
      params: asJson(params) as ModelRequestRecord['params'],
      tools: this.#digestTools(tools),
      messages: {
        count: messages.length,
        digest: this.#messages.of(extension, messages).digest.slice(0, DIGITS),
        shown: Object.fromEntries(
          shown.flatMap(([at, message]) =>
            message === undefined ? [] : [[`${at} ${message.role}`, shorten(message.content, LONGEST_SHOWN)]],
          ),
        ),
      },
    };
  }

  /** Returns undefined when nothing was sent. `effect`: the key under which the request is recorded. */
  refer(effect: string, asked: AskedModel, written: WrittenRequests): RequestReferences | undefined {
    const { sent, messages, tools } = asked;
    if (sent === undefined) return undefined;
    const digested = this.#messages.of(asked.extension, messages);
    const { digests } = digested;
    const after = written.closest(digests);
    const rest = messages.slice(after?.count).map((message) => ({ message, id: asked.idOf?.(message) }));
    const parts = this.#newParts(
      [...rest.flatMap(({ message, id }) => (id === undefined ? message : [])), ...tools],
      written,
    );
    written.add(asked.extension, effect, digests);
    return {
      ...sent,
      bodyDigest: sent.bodyDigest ?? this.#digestRequest(asked, digested.digest),
      references: {
        ...(after === undefined ? {} : { after }),
        more: rest.map(({ message, id }) => ({
          ...(id === undefined ? {} : { id }),
          digest: this.#digest(message).slice(0, DIGITS),
        })),
      },
      ...(Object.keys(parts).length > 0 && { parts }),
    };
  }

  #newParts(parts: readonly object[], written: WrittenRequests): Record<string, JsonValue> {
    const found: Record<string, JsonValue> = {};
    let left = LONGEST_PARTS;
    for (const part of parts) {
      const digest = this.#digest(part).slice(0, DIGITS);
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
  #digestRequest({ params, tools }: AskedModel, messages: string): string {
    return digestJson({ params: asJson(params), tools: this.#digestTools(tools), messages });
  }

  #digestTools(tools: AskedModel['tools']): Record<string, string> {
    return Object.fromEntries(tools.map((tool) => [tool.name, this.#digest(tool).slice(0, DIGITS)]));
  }

  #digest(part: object): string {
    const known = this.#known.get(part);
    if (known !== undefined) return known;
    const digest = digestJson(asJson(part));
    if (Object.isFrozen(part)) this.#known.set(part, digest);
    return digest;
  }
}

function countSame(before: readonly string[], now: readonly string[]): number {
  let count = 0;
  while (count < now.length && now[count] === before[count]) count += 1;
  return count;
}

/**
 * Converts a value to JSON, since a layer may have put anything into a request. A bigint, an object that contains
 * itself and a value that cannot be read become texts. Everything else that is not JSON is dropped.
 */
function asJson(value: unknown, replacer?: ReturnType<typeof unfitReplacer>): JsonValue {
  try {
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

/**
 * What a model was asked, in short: enough to tell whether another request is the same, and to show where it is not.
 * The whole of it is digested; of the messages only the first and the last ones are shown.
 */
import type { JsonValue, ModelMessage, ModelParams, ToolCatalogItem } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';
import type { Shorten } from '../json/diff-json.ts';

export interface ModelRequest {
  readonly modelRef: string;
  readonly params: ModelParams;
  readonly tools: readonly ToolCatalogItem[];
  /** Not changed any more. */
  readonly messages: readonly ModelMessage[];
}

/** A type, not an interface: it is JSON. */
export type ModelRequestRecord = {
  readonly modelRef: string;
  readonly params: { readonly [name: string]: JsonValue };
  /** A digest of each, by its name. */
  readonly tools: { readonly [name: string]: string };
  readonly messages: {
    readonly count: number;
    /** Of all of them. */
    readonly digest: string;
    /** The beginnings of the first and the last ones, by place and role. */
    readonly shown: { readonly [place: string]: string };
  };
};

const MOST_SHOWN = 12;
const LONGEST_SHOWN = 300;
const DIGITS = 16;

/** Messages are shown to the model again in every step: each that nobody can change is digested once. */
export class RequestRecorder {
  readonly #known = new WeakMap<object, string>();

  record({ modelRef, params, tools, messages }: ModelRequest, shorten: Shorten): ModelRequestRecord {
    const hasher = new Bun.CryptoHasher('sha256');
    for (const message of messages) hasher.update(this.#digest(message));
    const last = messages.slice(-MOST_SHOWN);
    const from = messages.length - last.length;
    const shown = [
      ...(from > 0 ? [[0, messages[0]] as const] : []),
      ...last.map((each, at) => [from + at, each] as const),
    ];
    return {
      modelRef,
      params: asJson(params) as ModelRequestRecord['params'],
      tools: Object.fromEntries(tools.map((tool) => [tool.name, this.#digest(tool).slice(0, DIGITS)])),
      messages: {
        count: messages.length,
        digest: hasher.digest('hex').slice(0, DIGITS),
        shown: Object.fromEntries(
          shown.flatMap(([at, message]) =>
            message === undefined ? [] : [[`${at} ${message.role}`, shorten(message.content, LONGEST_SHOWN)]],
          ),
        ),
      },
    };
  }

  #digest(part: object): string {
    const known = this.#known.get(part);
    if (known !== undefined) return known;
    const digest = digestJson(asJson(part));
    if (Object.isFrozen(part)) this.#known.set(part, digest);
    return digest;
  }
}

/** A layer may have left anything in a request: what is no JSON is as if it were not there. */
function asJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue;
}

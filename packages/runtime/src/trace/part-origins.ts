/**
 * Finds who put the parts of a model request there: the messages that are not in the conversation, and the tools. The
 * layers of a chain show their changes as values before and after. A part is attributed to the innermost layer after
 * which it is there and before which it is not.
 */
import type { JsonValue, MiddlewareKind, ModelMessage, ToolCatalogItem } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';
import { isAsBefore } from '../json/snapshot-json.ts';
import { type Mask, maskJson } from '../log/mask-secrets.ts';
import type { WatchedLayer } from './layer-span.ts';
import type { Difference } from './recorded-layer.ts';

/** A layer, as a record names it. A type alias, because an interface would not count as JSON. */
export type NamedLayer = { readonly extension: string; readonly name: string; readonly kind: MiddlewareKind };

/**
 * The origin of a part. `prompt`: the system prompt of the agent. `runtime`: a result that the runtime added for a tool
 * call without one. `message`: the runtime made it from the message `id` of the conversation. `layer`: a layer added or
 * changed it. `tool`: nothing changed it. `offeredBy` names the resource that offers a tool: `Tool/weather`,
 * `Extension/notes`.
 */
export type PartOrigin =
  | { readonly from: 'prompt' | 'runtime' }
  | { readonly from: 'message'; readonly id: string }
  | { readonly from: 'layer'; readonly layer: NamedLayer; readonly offeredBy?: string }
  | { readonly from: 'tool'; readonly offeredBy: string };

/** A layer with the fields of its chain before and after its changes. */
export interface ChangingLayer {
  readonly layer: WatchedLayer;
  readonly changed: Difference | undefined;
}

/** The fields with messages or tools. The catalog of a step has the tools of its model call. */
const fieldsOf = { messages: ['messages'], tools: ['tools', 'toolCatalog'] } as const;

type FoundOrigin = readonly [digest: string, origin: PartOrigin | undefined];

/** The messages that the runtime showed to the outermost layer. */
interface ShownMessages {
  readonly idOf?: (message: ModelMessage) => string | undefined;
  /** Returns the origin of a message that the runtime added to those of the conversation. */
  readonly originOf?: (message: ModelMessage) => PartOrigin | undefined;
}

interface OfferedTools {
  readonly tools: readonly ToolCatalogItem[];
  readonly extension?: string | undefined;
  readonly offererOf?: (tool: string) => string | undefined;
}

/** Attributes the parts of one request to layers. */
export class LayerParts {
  /** Digests of the parts that each layer added, made when they are first needed. */
  readonly #added = {
    messages: new Map<ChangingLayer, ReadonlySet<string>>(),
    tools: new Map<ChangingLayer, ReadonlySet<string>>(),
  };
  /** The origins of the messages before the first change, found when they are first needed. */
  #originals: ReadonlyMap<string, PartOrigin | undefined> | undefined;

  /** `layers`: innermost first. `digestOf`: makes the digest of a part. Secrets are masked in a request, so also here. */
  constructor(
    private readonly layers: readonly ChangingLayer[],
    private readonly digestOf: (part: object) => string,
    private readonly mask: Mask,
  ) {}

  /** Finds the origins of messages that are not in the conversation. */
  originsOfMessages(messages: readonly ModelMessage[], shown: ShownMessages): readonly FoundOrigin[] {
    return messages.map((message) => {
      const digest = this.digestOf(message);
      const layer = this.#putBy('messages', digest);
      return [digest, shown.originOf?.(message) ?? fromLayer(layer) ?? this.#copiedFrom(digest, shown)];
    });
  }

  /** Returns the origin of a message that a layer copied without a change, if only one message can be meant. */
  #copiedFrom(digest: string, shown: ShownMessages): PartOrigin | undefined {
    return (this.#originals ??= this.#findOriginals(shown)).get(digest);
  }

  /** Finds the origins of the messages before the first change, by digest; undefined for equal messages. */
  #findOriginals({ idOf, originOf }: ShownMessages): ReadonlyMap<string, PartOrigin | undefined> {
    const outermost = this.layers.findLast(({ changed }) => partsIn(changed?.before, 'messages').length > 0);
    const originals = new Map<string, PartOrigin | undefined>();
    for (const part of partsIn(outermost?.changed?.before, 'messages')) {
      // Safe: the messages before the first change are those that the runtime showed.
      const message = part as ModelMessage;
      const id = idOf?.(message);
      const origin = id === undefined ? originOf?.(message) : ({ from: 'message', id } as const);
      const digest = this.#digest(part);
      originals.set(digest, originals.has(digest) ? undefined : origin);
    }
    return originals;
  }

  /** Finds the origins of tools. The tools in the request of an `extension` are those that it passed. */
  originsOfTools({ tools, extension, offererOf }: OfferedTools): readonly FoundOrigin[] {
    return tools.map((tool) => {
      const digest = this.digestOf(tool);
      const offerer = extension === undefined ? offererOf?.(tool.name) : undefined;
      const offered = offerer === undefined ? {} : { offeredBy: offerer };
      const layer = this.#putBy('tools', digest);
      if (layer !== undefined) return [digest, { from: 'layer', layer, ...offered }];
      return [digest, offerer === undefined ? undefined : { from: 'tool', offeredBy: offerer }];
    });
  }

  /** Returns the layer that put the part with this digest there; undefined when none of the layers did. */
  #putBy(kind: keyof typeof fieldsOf, digest: string): NamedLayer | undefined {
    const found = this.layers.find((each) => each.changed !== undefined && this.#addedBy(each, kind).has(digest));
    if (found === undefined) return undefined;
    const { extension, name, kind: of } = found.layer;
    return { extension, name, kind: of };
  }

  #addedBy(changing: ChangingLayer, kind: keyof typeof fieldsOf): ReadonlySet<string> {
    const added = this.#added[kind].get(changing) ?? this.#compare(changing, kind);
    this.#added[kind].set(changing, added);
    return added;
  }

  #compare({ changed }: ChangingLayer, kind: keyof typeof fieldsOf): ReadonlySet<string> {
    const before = partsIn(changed?.before, kind);
    const kept = new Set(before);
    const fresh = partsIn(changed?.after, kind).filter((part) => !kept.has(part));
    if (fresh.length === 0) return nothing;
    const digests = new Set(fresh.map((part) => this.#digest(part)));
    // A layer may have copied parts without changing them. Parts that it left in place need no digest.
    const left = new Set(partsIn(changed?.after, kind));
    for (const part of before) if (!left.has(part)) digests.delete(this.#digest(part));
    return digests;
  }

  #digest(part: object): string {
    // Safe: a part that is not JSON is masked as far as it is.
    return this.digestOf(this.mask.isEmpty === true ? part : (maskJson(part as JsonValue, this.mask) as object));
  }
}

const nothing: ReadonlySet<string> = new Set();

function partsIn(fields: unknown, kind: keyof typeof fieldsOf): readonly object[] {
  if (!isPlainObject(fields)) return [];
  const field = fieldsOf[kind].find((name) => Array.isArray(fields[name]));
  const parts: unknown = field === undefined ? [] : fields[field];
  return Array.isArray(parts) ? parts.filter((part) => typeof part === 'object' && part !== null) : [];
}

function fromLayer(layer: NamedLayer | undefined): PartOrigin | undefined {
  return layer === undefined ? undefined : { from: 'layer', layer };
}

export function isSameOrigin(one: PartOrigin | undefined, other: PartOrigin | undefined): boolean {
  return isAsBefore(one, other);
}

/** Masks secrets in the requests and replies of a model. */
import type { ModelMessage, ModelReply, ToolCatalogItem } from '@goondan/types';
import { type Mask, maskJson, type SecretMask } from '../../log/mask-secrets.ts';
import { maskModelMessage, maskParts } from './mask-message.ts';

/** Masks each message once and caches the result, because messages are frozen and sent again in every step. */
export class CleanMessages {
  #known = new WeakMap<ModelMessage, ModelMessage>();
  /** The search with which the cached messages were masked. The mask has another one when it got more secrets. */
  #search: unknown;

  constructor(private readonly mask: SecretMask) {}

  of(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    if (this.mask.isEmpty === true) return messages;
    const search = this.mask.search();
    if (search !== this.#search) this.#known = new WeakMap();
    this.#search = search;
    return messages.map((message) => this.#clean(message));
  }

  #clean(message: ModelMessage): ModelMessage {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const clean = maskModelMessage(message, this.mask);
    // A message made by a layer is not frozen and may still change, so it is not cached.
    if (Object.isFrozen(message)) this.#known.set(message, clean);
    return clean;
  }
}

export function maskTools(tools: readonly ToolCatalogItem[], mask: Mask): readonly ToolCatalogItem[] {
  if (mask.isEmpty === true) return tools;
  return tools.map((tool) => {
    const { description, parameters } = tool;
    const masked = { description: mask(description), ...(parameters && { parameters: maskJson(parameters, mask) }) };
    const isClean = masked.description === description && masked.parameters === parameters;
    // Safe: masking a schema returns a schema.
    return isClean ? tool : ({ ...tool, ...masked } as ToolCatalogItem);
  });
}

export function maskReply(reply: ModelReply, mask: Mask): ModelReply {
  const content = maskParts(reply.content, mask);
  return content === reply.content ? reply : { ...reply, content };
}

/** Masks secrets in the requests and replies of a model. */
import type { ModelReply, ToolCatalogItem } from '@goondan/types';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';
import { maskParts } from './mask-message.ts';

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

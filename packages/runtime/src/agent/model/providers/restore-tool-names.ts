/** Gives the tool calls of a reply the names that the runtime knows, in place of the names for providers. */
import type { ModelReply } from '@goondan/types';
import { toProviderName } from '../../tool/provider-tool-name.ts';
import type { ModelRequest } from '../model-port.ts';

/**
 * Returns the reply with the names of the request. A model may also call a tool that only the conversation names; a
 * name that is in neither stays unchanged, and so do calls of tools that the provider runs itself.
 */
export function restoreToolNames(reply: ModelReply, request: Pick<ModelRequest, 'tools' | 'messages'>): ModelReply {
  const content = reply.content.map((part) => {
    if (part.type !== 'tool-call' || part.providerExecuted === true) return part;
    return { ...part, toolName: findName(part.toolName, request) };
  });
  return { ...reply, content };
}

function findName(providerName: string, { tools, messages }: Pick<ModelRequest, 'tools' | 'messages'>): string {
  const isMeant = (name: string) => toProviderName(name) === providerName;
  const offered = tools.find(({ name }) => isMeant(name))?.name;
  if (offered !== undefined) return offered;
  for (const { role, content } of messages.toReversed()) {
    if (role !== 'assistant' || typeof content === 'string') continue;
    for (const part of content) if (part.type === 'tool-call' && isMeant(part.toolName)) return part.toolName;
  }
  return providerName;
}

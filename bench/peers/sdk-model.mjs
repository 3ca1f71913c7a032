/** A model that answers at once, for the provider interface of the AI SDK, which Mastra uses too. */
import { answersOf, toolName } from './run-peer.mjs';

/** `version`: the version of the interface, `v4` of the AI SDK 7 or `v2` of the AI SDK 5. */
export function sdkModel(steps, version) {
  const next = answersOf(steps);
  const isNew = version === 'v4';
  const usage = isNew
    ? { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } }
    : { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const reason = (unified) => (isNew ? { unified, raw: unified } : unified);
  const answer = () => {
    const { text, callId, city } = next();
    if (text !== undefined) return { content: { type: 'text', text }, finishReason: reason('stop') };
    const call = { type: 'tool-call', toolCallId: callId, toolName, input: JSON.stringify({ city }) };
    return { content: call, finishReason: reason('tool-calls') };
  };
  return {
    specificationVersion: version,
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    async doGenerate() {
      const { content, finishReason } = answer();
      return { content: [content], finishReason, usage, warnings: [] };
    },
    async doStream() {
      const { content, finishReason } = answer();
      const parts =
        content.type === 'text'
          ? [
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: content.text },
              { type: 'text-end', id: '1' },
            ]
          : [content];
      const chunks = [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }];
      return { stream: ReadableStream.from(chunks) };
    },
  };
}

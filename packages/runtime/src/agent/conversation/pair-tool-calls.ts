/**
 * The model never receives a tool call without its result or a result without its call, whatever was removed,
 * compacted or lost in a crash. The fold stays literal; this repairs what the model is shown.
 */
import type { AssistantModelMessage, ModelMessage, ToolModelMessage, ToolResultPart } from '@goondan/types';

/** An assistant message with calls, waiting for their results. */
interface OpenCalls {
  readonly asked: ReadonlyMap<string, string>;
  readonly results: Map<string, ToolModelMessage>;
}

/**
 * Every assistant message with calls is followed at once by one result for each, in the order asked: the recorded
 * one, else one that says it is missing. Results nobody asked for are left out.
 */
export function pairToolCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const shown: (ModelMessage | OpenCalls)[] = [];
  const waiting = new Map<string, OpenCalls>();
  for (const message of messages) {
    if (message.role === 'tool') {
      fillIn(message, waiting);
      continue;
    }
    shown.push(message);
    const asked = callsOf(message);
    if (asked.size === 0) continue;
    const open: OpenCalls = { asked, results: new Map() };
    shown.push(open);
    // A model may use an id again: from here on results belong to the newer call.
    for (const toolCallId of asked.keys()) waiting.set(toolCallId, open);
  }
  return shown.flatMap((entry) => ('role' in entry ? [entry] : inOrderAsked(entry)));
}

/** The calls a message makes, id → tool name; calls the provider ran itself need no result of ours. */
export function callsOf(message: ModelMessage): ReadonlyMap<string, string> {
  if (message.role !== 'assistant' || typeof message.content === 'string') return noCalls;
  return new Map(callParts(message).map((part) => [part.toolCallId, part.toolName]));
}

const noCalls: ReadonlyMap<string, string> = new Map();

function callParts(message: AssistantModelMessage) {
  if (typeof message.content === 'string') return [];
  return message.content.filter((part) => part.type === 'tool-call').filter((part) => part.providerExecuted !== true);
}

function fillIn(message: ToolModelMessage, waiting: Map<string, OpenCalls>): void {
  for (const part of message.content) {
    const open = waiting.get(part.toolCallId);
    if (open === undefined) continue;
    waiting.delete(part.toolCallId);
    // The usual message has one part: shown as it is, so that what was made of it before can be used again.
    open.results.set(part.toolCallId, message.content.length === 1 ? message : alone(part));
  }
}

function inOrderAsked(open: OpenCalls): ToolModelMessage[] {
  return Array.from(
    open.asked,
    ([toolCallId, toolName]) => open.results.get(toolCallId) ?? alone(missing(toolCallId, toolName)),
  );
}

/** Frozen, as stored messages are: it may be shown more than once. */
function alone(part: ToolResultPart): ToolModelMessage {
  const content = [part];
  Object.freeze(content);
  return Object.freeze({ role: 'tool', content });
}

function missing(toolCallId: string, toolName: string): ToolResultPart {
  return Object.freeze({ type: 'tool-result', toolCallId, toolName, output: noResult });
}

const noResult = Object.freeze({
  type: 'error-json',
  value: Object.freeze({ code: 'E_INTERRUPTED', message: 'No result of this call was recorded.' }),
});

/**
 * Ensures that the model never receives a tool call without its result or a result without its call, whatever was
 * removed, summarised or lost in a crash. The fold keeps events as they are; this function changes only the model's
 * view.
 */
import type { ModelMessage, ToolModelMessage, ToolResultPart } from '@goondan/types';

/** An assistant message whose tool calls have no results yet. */
interface OpenCalls {
  readonly asked: ReadonlyMap<string, string>;
  readonly results: Map<string, ToolModelMessage>;
}

/**
 * Puts one result for each call directly after its assistant message, in the order of the calls. If no result was
 * recorded, adds one that says so. Leaves out results without a call.
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
    // A model may reuse an id: from here on, results belong to the newer call.
    for (const toolCallId of asked.keys()) waiting.set(toolCallId, open);
  }
  return shown.flatMap((entry) => ('role' in entry ? [entry] : inOrderAsked(entry)));
}

/** Returns the tool names of a message's calls by call id, without calls that the provider ran itself. */
export function callsOf(message: ModelMessage): ReadonlyMap<string, string> {
  if (message.role !== 'assistant' || typeof message.content === 'string') return noCalls;
  let calls: Map<string, string> | undefined;
  for (const part of message.content) {
    if (part.type !== 'tool-call' || part.providerExecuted === true) continue;
    calls ??= new Map();
    calls.set(part.toolCallId, part.toolName);
  }
  return calls ?? noCalls;
}

const noCalls: ReadonlyMap<string, string> = new Map();

function fillIn(message: ToolModelMessage, waiting: Map<string, OpenCalls>): void {
  for (const part of message.content) {
    const open = waiting.get(part.toolCallId);
    if (open === undefined) continue;
    waiting.delete(part.toolCallId);
    // A message with one part, the usual case, is passed on as the same object, so that anything cached for the object
    // stays valid.
    open.results.set(part.toolCallId, message.content.length === 1 ? message : alone(part));
  }
}

function inOrderAsked(open: OpenCalls): ToolModelMessage[] {
  return Array.from(
    open.asked,
    ([toolCallId, toolName]) => open.results.get(toolCallId) ?? alone(missing(toolCallId, toolName)),
  );
}

/** Makes a tool message with one result. Frozen like a stored message, because it may be shown more than once. */
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

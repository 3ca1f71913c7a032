/** Checks the messages that a model gets: their role, content and parts. */
import { isPlainObject } from '../../json/copy-json.ts';

/**
 * Returns the reason why a value is not a model message, or `undefined` when it is valid. `what` names the value, such
 * as `message.data`.
 */
export function problemWithModelMessage(value: unknown, what: string): string | undefined {
  if (!isPlainObject(value)) return `${what} is not an object`;
  const { role, content } = value;
  if (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool') {
    return `${what}.role ${quote(role)} is not one of system, user, assistant, tool`;
  }
  if (role === 'system' && typeof content !== 'string') return 'the content of a system message is not a text';
  if (role === 'tool' && !Array.isArray(content)) return 'the content of a tool message is not an array';
  return typeof content === 'string' ? undefined : problemWithParts(content, role);
}

function problemWithParts(content: unknown, role: string): string | undefined {
  if (!Array.isArray(content)) return `the content of the ${role} message is neither a text nor an array`;
  const called = new Set<unknown>();
  for (const part of content as unknown[]) {
    const problem = problemWithPart(part, role);
    if (problem !== undefined) return problem;
    // Safe: a part without a problem is an object.
    const { type, toolCallId } = part as Record<string, unknown>;
    if (type !== 'tool-call') continue;
    if (called.has(toolCallId)) return `two tool calls have the id ${quote(toolCallId)}`;
    called.add(toolCallId);
  }
  return undefined;
}

function problemWithPart(part: unknown, role: string): string | undefined {
  if (!isPlainObject(part) || typeof part.type !== 'string') return `a part of the ${role} message has no type`;
  if (part.type === 'text' && typeof part.text !== 'string') return 'a text part has no text';
  if (part.type === 'tool-call' || part.type === 'tool-result') {
    if (role === 'user') return `a user message cannot have ${part.type} parts`;
    if (!isName(part.toolCallId)) return `the toolCallId of a ${part.type} part is not a text`;
    if (!isName(part.toolName)) return `the toolName of a ${part.type} part is not a text`;
  }
  if (part.type === 'tool-result' && !isPlainObject(part.output)) return 'a tool-result part has no output';
  if (role === 'tool' && part.type !== 'tool-result') return 'a tool message can have only tool-result parts';
  return undefined;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Quotes a text. For any other value, returns only its type, because some values cannot be converted to a text. */
export function quote(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : `(${typeof value})`;
}

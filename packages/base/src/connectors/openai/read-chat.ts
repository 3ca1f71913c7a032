/** Checks the body of a chat request: the agent, the new message, and the earlier messages. */
import type { InputPart, OutputDemand } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { isObject } from '../../json/is-object.ts';
import { markOf, type Part, readFilePart } from './read-file-part.ts';

/**
 * A message of the transcript. Images and files are in the text as a short mark, so that a chat is recognised by its
 * transcript.
 */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
}

export interface ToolMessage {
  readonly callId: string;
  readonly text: string;
}

export interface ChatRequest {
  /** The model's name as the client wrote it. */
  readonly model: string;
  readonly agent: string;
  /** The earlier messages, without tool messages. */
  readonly earlier: readonly ChatMessage[];
  /** The text of the user's new message; of the user's last one, if tool messages follow. */
  readonly input: string;
  /** The tool messages at the end: the client's answers to questions. `earlier` then has all other messages. */
  readonly answers: readonly ToolMessage[];
  /** The images and files of the new message. */
  readonly content: readonly InputPart[];
  /** The new message as it will be in the transcript of the next request. */
  readonly said: string;
  readonly isStream: boolean;
  readonly includesUsage: boolean;
  readonly user?: string;
  /** The demand for an answer in JSON, from `response_format`. */
  readonly output?: OutputDemand;
  /** The request's settings that have no effect, because the agent has its own. */
  readonly ignored: readonly string[];
}

const PREFIX = 'goondan/';
const LONGEST_USER = 200;
const MOST_MESSAGES = 10_000;
const understood = new Set(['model', 'messages', 'stream', 'stream_options', 'user', 'n', 'response_format']);
/** Settings that can safely be ignored. */
const harmless = new Set(['metadata', 'store']);

/**
 * Reads a chat request. Throws a `Refusal` if it is invalid: 404 for a model that is not one of `agents`, otherwise
 * 400. `takesAnswers`: tool messages at the end are allowed.
 */
export function readChat(
  body: Readonly<Record<string, unknown>>,
  agents: readonly string[],
  takesAnswers = false,
): ChatRequest {
  const { model, messages, stream, stream_options: options, user } = body;
  if (typeof model !== 'string') throw invalid('`model` must be a text.');
  const agent = findAgent(model, agents);
  checkSupported(body);
  const output = readFormat(body.response_format);
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw invalid('`stream` must be true or false.');
  const { earlier, input, content, said, answers } = readMessages(messages, takesAnswers);
  return {
    model,
    agent,
    earlier,
    input,
    content,
    said,
    answers,
    isStream: stream === true,
    includesUsage: isObject(options) && options.include_usage === true,
    ...(typeof user === 'string' && user !== '' && user.length <= LONGEST_USER ? { user } : {}),
    ...(output === undefined ? {} : { output }),
    ignored: Object.keys(body).filter((key) => !understood.has(key) && !harmless.has(key)),
  };
}

/**
 * Returns the agent for a model name, such as `coder` or `goondan/coder`. Throws a `Refusal` with 404 if there is no
 * such agent.
 */
export function findAgent(model: string, agents: readonly string[]): string {
  const name = model.startsWith(PREFIX) ? model.slice(PREFIX.length) : model;
  if (agents.includes(name)) return name;
  throw new Refusal(
    404,
    'E_AGENT_UNKNOWN',
    `There is no model "${model.slice(0, 100)}". There are: ${agents.join(', ')}.`,
  );
}

/** Rejects settings that this connector does not support, so that a client does not assume they had an effect. */
function checkSupported({ n }: Readonly<Record<string, unknown>>): void {
  if (n !== undefined && n !== null && n !== 1) throw invalid('The agent gives one answer: `n` must be 1.');
}

/** Reads the demand for JSON. The swarm checks the schema. */
function readFormat(format: unknown): OutputDemand | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw invalid('`response_format` must be an object.');
  if (format.type === 'text') return undefined;
  if (format.type === 'json_object') return { schema: { type: 'object' } };
  if (format.type !== 'json_schema') {
    throw invalid('`response_format` must be of the type text, json_object or json_schema.');
  }
  const { json_schema: described } = format;
  if (!isObject(described) || !isObject(described.schema)) {
    throw invalid('`response_format.json_schema.schema` must be a JSON Schema.');
  }
  return { schema: described.schema };
}

type Messages = Pick<ChatRequest, 'earlier' | 'input' | 'content' | 'said' | 'answers'>;

function readMessages(messages: unknown, takesAnswers: boolean): Messages {
  if (!Array.isArray(messages) || messages.length === 0) throw invalid('`messages` must be a list of messages.');
  if (messages.length > MOST_MESSAGES) throw invalid(`There are more than ${MOST_MESSAGES} messages.`);
  const last: unknown = messages.at(-1);
  if (takesAnswers && isObject(last) && last.role === 'tool') return readAnswers(messages);
  if (!isObject(last) || last.role !== 'user') throw invalid("The last message must be the user's.");
  const content: InputPart[] = [];
  const input = textOf(last.content, (part) => {
    content.push(readFilePart(part));
    return '';
  });
  const earlier = messages.slice(0, -1).flatMap(readEarlier);
  return { earlier, input, content, said: textOf(last.content, markOf), answers: [] };
}

/** Reads a transcript that ends with answers of the client. */
function readAnswers(messages: readonly unknown[]): Messages {
  const first = messages.findLastIndex((message) => !isObject(message) || message.role !== 'tool') + 1;
  const earlier = messages.slice(0, first).flatMap(readEarlier);
  const said = earlier.findLast(({ role }) => role === 'user')?.text ?? '';
  return { earlier, input: said, content: [], said, answers: messages.slice(first).map(readAnswer) };
}

function readAnswer(message: unknown): ToolMessage {
  if (!isObject(message) || typeof message.tool_call_id !== 'string') {
    throw invalid('A tool message must have a `tool_call_id`.');
  }
  return { callId: message.tool_call_id, text: textOf(message.content ?? '', () => '') };
}

function readEarlier(message: unknown): ChatMessage[] {
  if (!isObject(message)) throw invalid('A message must be an object with `role` and `content`.');
  const { role, content } = message;
  switch (role) {
    case 'assistant':
      // A message that only asks the client is not part of the chat.
      if (Array.isArray(message.tool_calls) && (content ?? '') === '') return [];
      return [{ role, text: textOf(content ?? '', markOf) }];
    case 'user':
      return [{ role, text: textOf(content ?? '', markOf) }];
    case 'system':
    case 'developer':
      return [{ role: 'system', text: textOf(content ?? '', markOf) }];
    case 'tool':
    case 'function':
      return [];
    default:
      throw invalid(`There is no role ${JSON.stringify(role) ?? 'of no name'}.`);
  }
}

/** The text of a message; `other` returns the text of a part that is not text. */
function textOf(content: unknown, other: (part: Part) => string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalid('`content` must be a text, or a list of parts.');
  return content
    .map((part: unknown) => {
      if (!isObject(part) || typeof part.type !== 'string') throw invalid('A part of a message must have a `type`.');
      const { type, text } = part;
      return type === 'text' && typeof text === 'string' ? text : other({ ...part, type: type.slice(0, 40) });
    })
    .join('');
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'E_HTTP_BODY', message);
}

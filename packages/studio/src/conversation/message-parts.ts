/** Splits a message into pieces for a person: text, reasoning, tool calls with their results. */
import type { ConversationView } from '@goondan/cli/studio';
import { showText } from '../text/show-text.ts';

export type ShownMessage = ConversationView['messages'][number];
type ModelMessage = ShownMessage['message']['data'];

export interface ToolOutcome {
  readonly isError: boolean;
  readonly text: string;
  /** A short form of the text, when the text is long. */
  readonly brief?: string;
  /** The arguments with which the call ran, if a person changed them. */
  readonly edited?: { readonly by: string; readonly args: string };
}

export type Piece =
  | { readonly type: 'text' | 'json'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | {
      readonly type: 'attachment';
      readonly name: string;
      /** A stored image, to be shown as a picture. */
      readonly image?: { readonly digest: string; readonly mediaType: string };
    }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly name: string;
      readonly args: string;
      /** The result of the call; absent while the call runs, or after the result was removed. */
      readonly outcome?: ToolOutcome;
    };

/** Tool results by the id of their call. */
export type Outcomes = ReadonlyMap<string, ToolOutcome>;

export function outcomesOf(messages: readonly ShownMessage[]): Outcomes {
  const outcomes = new Map<string, ToolOutcome>();
  for (const { message } of messages) {
    const { content } = message.data;
    if (typeof content === 'string') continue;
    for (const part of content)
      if (part.type === 'tool-result')
        outcomes.set(part.toolCallId, { ...readOutcome(part.output), ...editedIn(message.metadata) });
  }
  return outcomes;
}

/** Reads the change of a person from the metadata of a result. */
function editedIn(metadata: ShownMessage['message']['metadata']): Pick<ToolOutcome, 'edited'> {
  const { by, via, args } = Object(metadata['goondan.edited']) as Record<string, unknown>;
  if (args === undefined) return {};
  const door = typeof via === 'string' ? ` via ${via}` : '';
  return { edited: { by: showText(`${typeof by === 'string' ? by : 'a person'}${door}`), args: showJson(args) } };
}

/**
 * `calls` are the ids of the calls on the page. A result is shown together with its call, or alone when the call is not
 * on the page.
 */
export function piecesOf(message: ModelMessage, outcomes: Outcomes, calls: ReadonlySet<string>): readonly Piece[] {
  const { content, role } = message;
  if (typeof content === 'string') return textPieces(content, role);
  return content.flatMap((part): readonly Piece[] => {
    switch (part.type) {
      case 'text':
        return textPieces(part.text, role);
      case 'reasoning':
        return part.text === '' ? [] : [{ type: 'reasoning', text: part.text }];
      case 'image':
        return [attachmentOf(part, part.image)];
      case 'file':
        return [attachmentOf(part, part.data)];
      case 'custom':
        return [{ type: 'attachment', name: part.kind }];
      case 'tool-call': {
        const outcome = outcomes.get(part.toolCallId);
        const call = { type: 'tool', id: part.toolCallId, name: part.toolName, args: showJson(part.input) } as const;
        return [outcome === undefined ? call : { ...call, outcome }];
      }
      case 'tool-result':
        if (calls.has(part.toolCallId)) return [];
        return [
          { type: 'tool', id: part.toolCallId, name: part.toolName, args: '', outcome: readOutcome(part.output) },
        ];
      default:
        return [];
    }
  });
}

/** Shows an answer that is a JSON object or list, as an agent with a schema gives it, as JSON. */
function textPieces(text: string, role: ModelMessage['role']): readonly Piece[] {
  const value = role === 'assistant' && /^\s*[{[]/.test(text) ? parse(text) : undefined;
  if (value !== undefined) return [{ type: 'json', text: showJson(value) }];
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function callsIn(messages: readonly ShownMessage[]): ReadonlySet<string> {
  const ids = messages.flatMap(({ message: { data } }) =>
    typeof data.content === 'string'
      ? []
      : data.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])),
  );
  return new Set(ids);
}

function readOutcome(
  output: Extract<Exclude<ModelMessage['content'], string>[number], { type: 'tool-result' }>['output'],
): ToolOutcome {
  switch (output.type) {
    case 'text':
      return { isError: false, text: output.value };
    case 'json':
      return { isError: false, text: showJson(output.value) };
    case 'error-text':
      return { isError: true, text: output.value };
    case 'error-json':
      return { isError: true, text: showJson(output.value), ...briefOf(output.value) };
    case 'content':
      return {
        isError: false,
        text: output.value.map((part) => (part.type === 'text' ? part.text : nameOf(part))).join('\n'),
      };
    default:
      return { isError: true, text: output.reason ?? 'The call was not allowed.' };
  }
}

interface FileFacts {
  readonly filename?: string;
  readonly mediaType?: string;
  readonly size?: number;
}

function attachmentOf(facts: FileFacts, source: string): Extract<Piece, { type: 'attachment' }> {
  const { mediaType = 'image/png', size } = facts;
  const [, digest] = /^blob:sha256-([0-9a-f]{64})$/.exec(source) ?? [];
  const isPicture = digest !== undefined && SHOWN.has(mediaType);
  return {
    type: 'attachment',
    name: `${nameOf(facts)}${size === undefined ? '' : `, ${sizeText(size)}`}`,
    ...(isPicture ? { image: { digest, mediaType } } : {}),
  };
}

/** The images that every browser shows, and that cannot run code. */
const SHOWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} KB` : `${Math.round(bytes / 1_048_576)} MB`;
}

function nameOf({ filename, mediaType }: { readonly filename?: string; readonly mediaType?: string }): string {
  return filename ?? mediaType ?? 'image';
}

/** Shortens an error to its code and its message. */
function briefOf(value: unknown): Pick<ToolOutcome, 'brief'> {
  if (typeof value !== 'object' || value === null || !('message' in value) || typeof value.message !== 'string')
    return {};
  const code = 'code' in value && typeof value.code === 'string' ? `${value.code}: ` : '';
  return { brief: `${code}${value.message}` };
}

function showJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Messages as a conversation keeps them, and the four events that change it. */
import type { JsonValue } from './json.ts';
import type { ModelMessage } from './model-message.ts';

/** The author of a message. */
export type MessageSource =
  | { readonly type: 'user' }
  | { readonly type: 'assistant'; readonly stepId: string }
  | { readonly type: 'tool'; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: 'system' }
  | { readonly type: 'extension'; readonly extensionName: string };

/**
 * One entry of a conversation.
 *
 * **Rules** — once emitted it is frozen, metadata too: to change or pin one, emit `replace`. Ids are unique among the
 * current messages.
 */
export interface Message {
  readonly id: string;
  readonly data: ModelMessage;
  metadata: Record<string, JsonValue>;
  readonly createdAt: Date;
  readonly source: MessageSource;
  /** The model sees the message until the end of this step or turn, and the history does not keep it; absent: kept. */
  readonly lifetime?: MessageLifetime;
}

/** The end of an ephemeral message: that of the step, or of the turn, that emitted it. */
export type MessageLifetime = 'step' | 'turn';

/** The metadata key that gave a message its lifetime before the field `lifetime`. It is still read. */
export const EPHEMERAL = 'goondan.ephemeral';

/** Returns the lifetime of an ephemeral message, by its field or by the old metadata key; `undefined` for others. */
export function lifetimeOf({
  lifetime,
  metadata,
}: Pick<Message, 'lifetime' | 'metadata'>): MessageLifetime | undefined {
  const written = lifetime ?? metadata[EPHEMERAL];
  return written === 'step' || written === 'turn' ? written : undefined;
}

/** The metadata key of a reply that reached a token limit: its value is true, and the message is incomplete. */
export const TRUNCATED = 'goondan.truncated';

/**
 * A change to the conversation.
 *
 * **When it fires** — you emit it with `ctx.emitMessageEvent(event)`; it shows in `events` and `nextMessages` at once.
 * **Rules** — `replace` keeps the position; the id of the new message is valid from then on. `truncate` removes
 * everything except the input of the running turn.
 * **Errors** — an id that is already there: `E_MESSAGE_DUPLICATE`; a malformed message: `E_MESSAGE_INVALID`; after the
 * turn ended: `E_TURN_ENDED`. `replace` or `remove` of an id that is not there is ignored, with a warning.
 *
 * @example ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('Be brief.') })
 */
export type MessageEvent =
  | { readonly type: 'append'; readonly message: Message }
  | { readonly type: 'replace'; readonly targetId: string; readonly message: Message }
  | { readonly type: 'remove'; readonly targetId: string }
  | { readonly type: 'truncate' };

/** The conversation for extensions: `nextMessages = baseMessages + SUM(events)` at every moment. */
export interface ConversationState {
  /** The snapshot at turn start; it does not change during the turn. */
  readonly baseMessages: readonly Message[];
  /** This turn's events so far, in order. Each read is an immutable snapshot. */
  readonly events: readonly MessageEvent[];
  /** The messages as they are now. Each read is an immutable snapshot. */
  readonly nextMessages: readonly Message[];
  /** The messages for the model: the system prompt, then the messages, every tool call paired with its result. */
  toLlmMessages(): ModelMessage[];
}

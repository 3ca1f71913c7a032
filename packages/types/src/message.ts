/** The messages of a conversation, and the four events that change a conversation. */
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
 * **Rules** — once emitted, a message and its metadata are frozen. To change a message, emit `replace`. Ids are unique
 * among the current messages.
 */
export interface Message {
  readonly id: string;
  readonly data: ModelMessage;
  readonly metadata: Readonly<Record<string, JsonValue>>;
  readonly createdAt: Date;
  readonly source: MessageSource;
  /**
   * The time when the message is removed: at the end of the step or turn that emitted it. A message with this field is
   * not kept in the history. Messages without this field are kept.
   */
  readonly lifetime?: MessageLifetime;
}

/** A message that is not emitted yet, so that its metadata can still be changed. */
export interface NewMessage extends Message {
  metadata: Record<string, JsonValue>;
}

/** The time when an ephemeral message is removed: at the end of the step or of the turn that emitted it. */
export type MessageLifetime = 'step' | 'turn';

/**
 * The metadata key that marks an incomplete reply. The value of the key is true when the reply reached a token limit.
 */
export const TRUNCATED = 'goondan.truncated';

/**
 * The metadata key of a tool result whose arguments a person changed. Its value has the name of the person, the door of
 * their answer, the id of the question, and the changed arguments with secrets masked: `{ by, via, question, args }`.
 */
export const EDITED = 'goondan.edited';

/**
 * A change to the conversation.
 *
 * **When it fires** — when you call `ctx.emitMessageEvent(event)`. The change is in `events` and `nextMessages` at
 * once.
 * **Rules** — `replace` puts the new message at the position of the old one; from then on only the id of the new
 * message is valid. `truncate` removes everything. If the model has not answered yet, events that append the inputs of
 * the turn again follow it. The `source` of a message is the extension that emits it, unless the message has another.
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

/**
 * The conversation, as extensions see it. `nextMessages` is always the result of applying `events` to `baseMessages`.
 * The arrays are frozen: a change of an array throws a `TypeError`. Their types are mutable, so that a function that
 * takes a `Message[]` accepts them.
 */
export interface ConversationState {
  /** The messages at the start of the turn. They do not change during the turn. */
  readonly baseMessages: Message[];
  /** This turn's events so far, in order. Each read is an immutable snapshot. */
  readonly events: MessageEvent[];
  /** The current messages. Each read is an immutable snapshot. */
  readonly nextMessages: Message[];
  /**
   * Returns the messages to send to the model: the system prompt, then the conversation, with every tool call paired
   * with its result.
   */
  toLlmMessages(): ModelMessage[];
}

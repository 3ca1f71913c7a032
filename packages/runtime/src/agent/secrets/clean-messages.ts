/**
 * Masks secrets in the messages and tools that a model receives. The cost follows the change: the view of the conversation masks
 * each message once, when it adds the message, and announces its array. An announced array is sent without another look
 * at its messages. All messages are masked again when the mask has more secrets.
 */
import type { ModelMessage, ToolCatalogItem } from '@goondan/types';
import { copyJsonObject } from '../../json/copy-json.ts';
import { noSecrets, type SecretMask } from '../../log/mask-secrets.ts';
import { maskModelMessage } from './mask-message.ts';
import { maskTools } from './mask-model-call.ts';

const noTools: Readonly<Record<'given' | 'clean', readonly ToolCatalogItem[]>> = { given: [], clean: [] };

export class CleanMessages {
  #known = new WeakMap<ModelMessage, ModelMessage>();
  /** The version with which the messages in `#known` and `#shown` were masked. */
  #version: unknown;
  /** The array that the view announced. Each of its messages is masked. */
  #shown: readonly ModelMessage[] = [];
  /** The last frozen list of tools. */
  #tools: typeof noTools = noTools;

  constructor(private readonly mask: SecretMask = noSecrets) {}

  /** Returns the same value as long as the mask has the same secrets. */
  version(): unknown {
    return this.mask.isEmpty === true ? undefined : this.mask.search();
  }

  /** Masks one message. A frozen message is masked once; the result is frozen, too. */
  one(message: ModelMessage): ModelMessage {
    if (this.mask.isEmpty === true) return message;
    this.#forgetOlder();
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const clean = maskModelMessage(message, this.mask);
    // A message made by a layer is not frozen and may still change, so it is not cached.
    if (!Object.isFrozen(message)) return clean;
    const kept = clean === message ? message : freeze(clean);
    this.#known.set(message, kept);
    return kept;
  }

  /** Announces the array of the view, which has only messages that `one` returned since the last change of `version`. */
  announce(shown: readonly ModelMessage[]): void {
    this.#forgetOlder();
    this.#shown = shown;
  }

  /** Returns the messages with secrets masked: the same array if it has none. */
  of(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    if (this.mask.isEmpty === true) return messages;
    this.#forgetOlder();
    if (messages === this.#shown) return messages;
    // A layer's copy has most messages at the place where the view has them.
    return messages.map((message, index) => (message === this.#shown[index] ? message : this.one(message)));
  }

  /** Returns the tools with secrets masked. The frozen list of an agent's tools is masked once. */
  ofTools(tools: readonly ToolCatalogItem[]): readonly ToolCatalogItem[] {
    if (this.mask.isEmpty === true) return tools;
    this.#forgetOlder();
    if (tools === this.#tools.given) return this.#tools.clean;
    const clean = maskTools(tools, this.mask);
    if (Object.isFrozen(tools)) this.#tools = { given: tools, clean };
    return clean;
  }

  #forgetOlder(): void {
    const version = this.version();
    if (version === this.#version) return;
    this.#version = version;
    this.#known = new WeakMap();
    this.#shown = [];
    this.#tools = noTools;
  }
}

function freeze(message: ModelMessage): ModelMessage {
  // Safe: the copy of a message is a message.
  return copyJsonObject(message, { freeze: true, omitUndefined: true }) as unknown as ModelMessage;
}

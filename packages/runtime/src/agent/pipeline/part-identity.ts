import { type ExtensionIdentity, GoondanError, type ToolCaller } from '@goondan/types';

/** The identity that `register` gets. Only the extension itself has it, so it proves in whose name something happens. */
export class PartIdentity implements ExtensionIdentity {
  readonly name: string;
  declare readonly position: number;
  /** Only objects that this class made have it. */
  readonly #own: ToolCaller;

  constructor(part: { readonly name: string; readonly position: number }, tier: ToolCaller['tier']) {
    this.name = part.name;
    this.#own = Object.freeze({ extension: part.name, tier });
    Object.defineProperty(this, 'position', { enumerable: true, get: () => part.position });
    Object.freeze(this);
  }

  /**
   * Returns the extension of an identity, and its tier. **Errors** — `E_MESSAGE_INVALID` for a value that the runtime did
   * not make.
   */
  static extensionOf(value: unknown): ToolCaller {
    if (typeof value === 'object' && value !== null && #own in value) return value.#own;
    throw new GoondanError('E_MESSAGE_INVALID', 'The given author or caller is not the identity of an extension.', {
      suggestion: 'Pass the third argument of register, or leave it out.',
    });
  }
}

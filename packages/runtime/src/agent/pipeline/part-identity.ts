import { type ExtensionIdentity, GoondanError } from '@goondan/types';

/** The identity that `register` gets. Only the extension itself has it, so it proves in whose name something happens. */
export class PartIdentity implements ExtensionIdentity {
  readonly name: string;
  declare readonly position: number;
  /** Only objects that this class made have it. */
  readonly #ownName: string;

  constructor(part: { readonly name: string; readonly position: number }) {
    this.name = part.name;
    this.#ownName = part.name;
    Object.defineProperty(this, 'position', { enumerable: true, get: () => part.position });
    Object.freeze(this);
  }

  /** Returns the name in an identity. **Errors** — `E_MESSAGE_INVALID` for a value that the runtime did not make. */
  static nameIn(value: unknown): string {
    if (typeof value === 'object' && value !== null && #ownName in value) return value.#ownName;
    throw new GoondanError('E_MESSAGE_INVALID', 'The author of a message event is not the identity of an extension.', {
      suggestion: 'Pass the third argument of register, or leave the author out.',
    });
  }
}

/**
 * The JSON that each extension keeps for an agent instance. Values are copied on the way in and out, so that only `set`
 * can change them. Changes made during a turn are kept even if the turn fails, unless the turn cannot be committed.
 */
import { type ExtensionStateApi, GoondanError, type JsonValue } from '@goondan/types';
import { copyJson } from '../../json/copy-json.ts';
import { type Mask, maskJson, noSecrets } from '../../log/mask-secrets.ts';

export class ExtensionStates {
  private states: Map<string, JsonValue>;
  private committed: Readonly<Record<string, JsonValue>>;
  /** Called after each `set`. */
  onSet: (() => void) | undefined;

  constructor(
    initial: Readonly<Record<string, JsonValue>>,
    /** Masks secrets, so that they are not stored. */
    private readonly mask: Mask = noSecrets,
    /** The version of the commit that the states in memory are based on. */
    public version = 0,
  ) {
    this.states = new Map(Object.entries(initial));
    this.committed = initial;
  }

  /** Names of the extensions whose states differ from the stored ones. */
  get unsaved(): readonly string[] {
    const names = new Set([...this.states.keys(), ...Object.keys(this.committed)]);
    // Each `set` creates a new value, so an unchanged state is the same object.
    return [...names].filter((name) => this.states.get(name) !== this.committed[name]);
  }

  /** True if a state differs from the stored one. Makes no list, because each turn asks several times. */
  get isUnsaved(): boolean {
    for (const [name, state] of this.states) if (state !== this.committed[name]) return true;
    for (const name in this.committed) if (!this.states.has(name)) return true;
    return false;
  }

  /** Records that this snapshot is committed. */
  saved(snapshot: Readonly<Record<string, JsonValue>>): void {
    this.committed = snapshot;
  }

  /** Returns every state, by extension name. Values are frozen copies and may be shared. */
  snapshot(): Record<string, JsonValue> {
    return Object.fromEntries(this.states);
  }

  restore(states: Readonly<Record<string, JsonValue>>): void {
    this.states = new Map(Object.entries(states));
  }

  /** Returns the state of an extension; a frozen value that may be shared. */
  get(extension: string): JsonValue | undefined {
    return this.states.get(extension);
  }

  /** Sets a state that `check` has returned. */
  put(extension: string, checked: JsonValue): void {
    this.states.set(extension, checked);
    this.onSet?.();
  }

  /** Returns a frozen copy of a state without secrets. **Errors** — `E_STATE_NOT_JSON`. */
  check(extension: string, value: unknown): JsonValue {
    const refuse = ({ message }: Error) =>
      new GoondanError('E_STATE_NOT_JSON', `State of extension "${extension}": ${message}.`);
    const copy = copyJson(value, { freeze: true, refuse });
    const masked = maskJson(copy, this.mask);
    return masked === copy ? copy : copyJson(masked, { freeze: true });
  }
}

/** Makes the state of an extension as the extension sees it. */
export function stateApi(get: () => JsonValue | undefined, set: (value: JsonValue) => void): ExtensionStateApi {
  return Object.freeze({
    get: async () => copyJson(get() ?? null),
    set: async (value: JsonValue) => set(value),
  });
}

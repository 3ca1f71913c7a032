/** The terminal of a screen. */
export interface Tty {
  /** At least 1 each. */
  size(): { readonly columns: number; readonly rows: number };
  /** Calls `written` when the terminal has taken the text. */
  write(text: string, written: () => void): void;
  /** From then on every key is delivered when it is pressed, and nothing is echoed. */
  takeOver(listener: TtyListener): void;
  /** Restores the state before `takeOver`. */
  giveBack(): void;
}

export interface TtyListener {
  readonly pressed: (bytes: Uint8Array) => void;
  readonly resized: () => void;
  /** The terminal is gone. */
  readonly gone: () => void;
}

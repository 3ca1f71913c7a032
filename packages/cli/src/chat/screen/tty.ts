/** The terminal that a screen draws on. */
export interface Tty {
  /** Returns the size; both numbers are at least 1. */
  size(): { readonly columns: number; readonly rows: number };
  /** Calls `written` when the terminal has accepted the text. */
  write(text: string, written: () => void): void;
  /** Switches to raw mode: every key is delivered when it is pressed, and nothing is echoed. */
  takeOver(listener: TtyListener): void;
  /** Restores the state before `takeOver`. */
  giveBack(): void;
}

export interface TtyListener {
  readonly pressed: (bytes: Uint8Array) => void;
  readonly resized: () => void;
  /** The terminal was closed. */
  readonly gone: () => void;
}

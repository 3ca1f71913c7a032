/** A terminal as the screen sees it. */
export interface Tty {
  /** At least 1 each. */
  size(): { readonly columns: number; readonly rows: number };
  /** `written` is called when the terminal has taken it. */
  write(text: string, written: () => void): void;
  /** From now on every key comes as it is pressed, and nothing is echoed. */
  takeOver(listener: TtyListener): void;
  /** As it was before `takeOver`. */
  giveBack(): void;
}

export interface TtyListener {
  readonly pressed: (bytes: Uint8Array) => void;
  readonly resized: () => void;
  /** The terminal is gone. */
  readonly gone: () => void;
}

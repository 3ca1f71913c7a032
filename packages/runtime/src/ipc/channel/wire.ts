/** Bytes in order between two processes, or between two halves of a test: the transport of a channel. */
export interface Wire {
  /** Returns the number of bytes taken; offer the rest again after `drain`. -1 when the wire is closed. */
  write(bytes: Uint8Array): number;
  /** Holds `data` and `closed` back until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes this end. Bytes already taken still arrive. */
  end(): void;
}

export interface WireEvents {
  data(chunk: Uint8Array): void;
  /** Called when `write` may be tried again. */
  drain(): void;
  /** Called once, after the last `data`. */
  closed(): void;
}

export type OpenWire = (events: WireEvents) => Wire;

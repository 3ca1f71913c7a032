/** Bytes in order between two processes, or between two halves of a test: all a channel needs to know of a transport. */
export interface Wire {
  /** How many of these bytes were taken; the rest is offered again after `drain`. -1 when the wire is closed. */
  write(bytes: Uint8Array): number;
  /** No `data` and no `closed` until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes this end. What was taken still arrives. */
  end(): void;
}

export interface WireEvents {
  data(chunk: Uint8Array): void;
  /** `write` may be tried again. */
  drain(): void;
  /** Once, after the last `data`. */
  closed(): void;
}

export type OpenWire = (events: WireEvents) => Wire;

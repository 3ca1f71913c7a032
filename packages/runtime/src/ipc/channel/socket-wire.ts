/**
 * A wire over one end of a socket pair: the extra pipe that `Bun.spawn` gives a child as descriptor 3. Not Bun's own
 * `ipc`, which reads a frame of any size into memory before anybody can refuse it, and whose `send` knows no
 * back-pressure (docs/decisions/0007-ipc-over-a-socket-pair.md).
 */
import type { OpenWire, Wire } from './wire.ts';

/** The descriptor a child finds its channel at. */
export const CHANNEL_DESCRIPTOR = 3;

export interface SocketWireOptions {
  /** False: a process that has nothing else to wait for may end. */
  readonly keepsAlive?: boolean;
}

/** Takes the descriptor over: it is closed with the wire. */
export function socketWire(descriptor: number, { keepsAlive = true }: SocketWireOptions = {}): OpenWire {
  return (events) => {
    let socket: Bun.Socket | undefined;
    let over = false;
    const close = () => {
      if (over) return;
      over = true;
      events.closed();
    };
    const options: Bun.FdSocketOptions = {
      fd: descriptor,
      socket: {
        // Called before `connect` returns: a descriptor is connected already.
        open(opened) {
          socket = opened;
          if (!keepsAlive) opened.unref();
        },
        data: (_, chunk) => events.data(chunk),
        drain: () => events.drain(),
        close,
        error: (broken) => {
          broken.terminate();
          close();
        },
        connectError: close,
      },
    };
    // Bun documents the option and takes it; its overloads of `connect` do not list it.
    void Bun.connect(options as unknown as Bun.UnixSocketOptions).catch(close);
    return wireOf(() => (over ? undefined : socket));
  };
}

function wireOf(open: () => Bun.Socket | undefined): Wire {
  return {
    write: (bytes) => open()?.write(bytes) ?? -1,
    pause: () => open()?.pause(),
    resume: () => open()?.resume(),
    end: () => void open()?.end(),
  };
}

/**
 * A wire over one end of a socket pair: the extra pipe that `Bun.spawn` gives a child as descriptor 3. Bun's own `ipc`
 * is not used, because it reads a frame of any size into memory before the frame can be rejected, and because its
 * `send` has no back-pressure (docs/decisions.md, "Messages over a socket pair").
 */
import type { OpenWire, Wire } from './wire.ts';

/** The file descriptor of a child's channel. */
export const CHANNEL_DESCRIPTOR = 3;

/**
 * Makes a wire that owns the descriptor. The descriptor is closed with the wire. If `keepsAlive` is false, the open
 * wire does not keep its process alive.
 */
export function socketWire(descriptor: number, keepsAlive = true): OpenWire {
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
        // Called before `connect` returns, because the descriptor is already connected.
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
    // Safe: Bun documents and accepts the option, but its overloads of `connect` omit it.
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

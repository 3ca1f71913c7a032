/**
 * A wire over one end of a socket pair: the extra pipe that `Bun.spawn` gives a child as descriptor 3. It is not Bun's
 * own `ipc`, which reads a frame of any size into memory before it can be rejected, and whose `send` has no
 * back-pressure (docs/decisions/0007-ipc-over-a-socket-pair.md).
 */
import type { OpenWire, Wire } from './wire.ts';

/** The descriptor of a child's channel. */
export const CHANNEL_DESCRIPTOR = 3;

/**
 * Takes over the descriptor: it is closed with the wire. `keepsAlive` is false to let a process end that waits for
 * nothing else.
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
        // Called before `connect` returns, because a descriptor is connected already.
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
    // Safe: Bun documents the option and takes it; its overloads of `connect` omit it.
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

/**
 * The control socket of a running swarm: HTTP and event streams on a Unix socket (docs/control-socket.md).
 *
 * 1. Only the owner of the swarm can open the socket.
 * 2. Every request gets an answer, and every rejection has a code. No request causes an uncaught exception.
 * 3. Clients that do not read, or never finish their requests, cost a bounded amount of memory, each and together.
 * 4. The server sends no CORS headers, so pages in a browser have no access.
 */
import type { Swarm } from '../../control/swarm.ts';
import { answerRequest } from './answer-request.ts';
import type { ControlHost } from './control-host.ts';
import { listenPrivately } from './listen-privately.ts';
import { closeServer, openHost, type HostOptions, type SharedHost } from './open-host.ts';

export interface ControlServerOptions extends HostOptions {
  /** The path of the socket, from `controlSocketPath`. */
  readonly path: string;
}

/** Starts the server. **Errors** — `E_CONTROL_PATH` when the socket cannot be made safely. */
export async function serveControl(swarm: Swarm, options: ControlServerOptions) {
  const { path } = options;
  const { server, remove } = listenPrivately(path, (unix) => listen(unix, (request) => answerRequest(host, request)));
  const host: SharedHost & ControlHost = { ...openHost(options, () => server.pendingRequests), swarm };
  let hasLeft = false;
  const leave = () => {
    if (hasLeft) return;
    hasLeft = true;
    // Bun removes the draft path at once, and answers open requests later.
    void server.stop();
    remove();
  };
  const close = async () => {
    leave();
    await closeServer(host, server);
  };
  let closed: Promise<void> | undefined;
  return {
    path,
    /** The number of waiting requests and open streams. */
    get open() {
      return host.open.size;
    },
    /**
     * Accepts no more connections and removes the socket file; open requests go on. From then on, another server may
     * listen at this path.
     */
    leave,
    /**
     * Sends `stopped` to every stream, rejects waiting requests, and closes the server. When it resolves, the socket
     * file is removed.
     */
    close: () => (closed ??= close()),
  };
}

function listen(unix: string, fetch: (request: Request) => Promise<Response>) {
  const options = {
    unix,
    // A stream may have no events for hours; bodies have their own deadline.
    idleTimeout: 0,
    // Our own limits are smaller, and their errors have a code.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    fetch,
  };
  // Bun's types omit `idleTimeout` for Unix sockets, but it has an effect: without it, connections without traffic are
  // closed after 10 s.
  return Bun.serve(options as Omit<typeof options, 'idleTimeout'>);
}

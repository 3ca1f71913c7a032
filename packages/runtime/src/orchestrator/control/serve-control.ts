/**
 * The control socket of a running swarm: HTTP and event streams on a Unix socket (docs/control-socket.md).
 *
 * 1. Only the owner of the swarm can open the socket.
 * 2. Every request gets an answer, and every rejection has a code. No request causes an uncaught exception.
 * 3. A client that does not read, or never finishes its request, costs a bounded amount of memory.
 * 4. The server sends no CORS headers, so pages in a browser have no access.
 */
import { GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { type OperationName, operationNames, operations, PROTOCOL } from '../../control/operations.ts';
import type { Swarm } from '../../control/swarm.ts';
import { type Clock, systemClock, waitAtMost } from '../../ports/clock.ts';
import { answerOperation } from './answer-operation.ts';
import { BodyRoom } from './body-room.ts';
import type { ControlHost } from './control-host.ts';
import { controlLimits } from './control-limits.ts';
import { noticeEncoder } from './event-stream.ts';
import { listenPrivately } from './listen-privately.ts';
import { OpenRequests } from './open-requests.ts';
import { codedError, refuse } from './refuse.ts';

export interface ControlServerOptions {
  /** The path of the socket, from `controlSocketPath`. */
  readonly path: string;
  readonly limits?: Partial<typeof controlLimits>;
  readonly clock?: Clock;
  /** Receives internal errors, which are not sent to the client. */
  readonly report?: (error: unknown, what: string) => void;
}

/** Starts the server. **Errors** — `E_CONTROL_PATH` when the socket cannot be made safely. */
export async function serveControl(swarm: Swarm, options: ControlServerOptions) {
  const { path, clock = systemClock, report = () => undefined } = options;
  const limits = { ...controlLimits, ...options.limits };
  const open = new OpenRequests();
  const { server, remove } = listenPrivately(path, (unix) => listen(unix, (request) => answer(host, request)));
  const host: ControlHost = {
    swarm,
    limits,
    clock,
    open,
    bodies: new BodyRoom(limits.mostBodyBytes),
    encodeNotice: noticeEncoder(),
    checkRoom: () => checkRoom(server.pendingRequests, limits),
    report,
  };

  const close = async () => {
    open.closeAll();
    await waitAtMost(clock, limits.closeMs, server.stop());
    await server.stop(true);
    remove();
  };
  let closed: Promise<void> | undefined;
  return {
    path,
    /** The number of waiting requests and open streams. */
    get open() {
      return open.size;
    },
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

async function answer(host: ControlHost, request: Request): Promise<Response> {
  try {
    const url = URL.parse(request.url);
    if (url === null) throw new Refusal(400, 'E_CONTROL_REQUEST', 'The address of the request is not a URL.');
    return await answerOperation(host, findOperation(request.method, url.pathname), request, url);
  } catch (error) {
    return refuse(codedError(host, error, 'The request'));
  }
}

function findOperation(method: string, path: string): OperationName {
  const atPath = operationNames.filter((name) => PROTOCOL + operations[name].path === path);
  const found = atPath.find((name) => operations[name].method === method);
  if (found !== undefined) return found;
  const shown = path.slice(0, 100);
  if (atPath.length > 0) {
    const allowed = atPath.map((name) => operations[name].method).join(', ');
    throw new Refusal(405, 'E_CONTROL_ENDPOINT', `${shown} supports ${allowed}, not ${method}.`, {
      Allow: allowed,
    });
  }
  const [version] = /^\/v\d+(?=\/|$)/.exec(path) ?? [];
  if (version !== undefined && version !== PROTOCOL) {
    throw new GoondanError('E_CONTROL_VERSION', `This swarm speaks ${PROTOCOL}, not ${version.slice(0, 20)}.`);
  }
  throw new GoondanError('E_CONTROL_ENDPOINT', `There is no endpoint ${shown}.`);
}

/**
 * Rejects a request above the limit. Bun's own count of open requests is used, because Bun knows when a connection is
 * really closed. The count includes this request.
 */
function checkRoom(pending: number, { mostOpen }: typeof controlLimits): void {
  if (pending <= mostOpen) return;
  throw new GoondanError('E_CONTROL_FULL', `${mostOpen} streams and questions are open.`, { retryable: true });
}

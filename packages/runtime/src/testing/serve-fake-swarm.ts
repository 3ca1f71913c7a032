/**
 * A control socket in its own folder, for tests, with a fake swarm behind it. The functions here send requests to the
 * socket.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlServerOptions, serveControl } from '../orchestrator/control/serve-control.ts';
import { type FakeControl, fakeControl } from './fake-control.ts';

export interface ServedSwarm extends AsyncDisposable {
  readonly swarm: FakeControl;
  readonly server: Awaited<ReturnType<typeof serveControl>>;
  readonly folder: string;
  readonly path: string;
  /** Errors that the server reported. */
  readonly reported: readonly unknown[];
  /** Sends one request on its own connection. */
  request(method: string, at: string, options?: RequestOptions): Promise<Response>;
  /** Opens a connection that sends these bytes, and can send more later. */
  connect(text: string, options?: { readonly reads?: boolean }): Promise<RawConnection>;
  close(): Promise<void>;
}

export interface RequestOptions {
  /** The body of the request. A text is sent unchanged, and any other value is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface RawConnection {
  readonly received: () => string;
  readonly isClosed: () => boolean;
  readonly read: () => void;
  readonly end: () => void;
}

export async function serveFakeSwarm(options: Partial<ControlServerOptions> = {}): Promise<ServedSwarm> {
  const folder = mkdtempSync(join(tmpdir(), 'control-'));
  const path = join(folder, 'control.sock');
  const swarm = fakeControl();
  const reported: unknown[] = [];
  const server = await serveControl(swarm, { path, report: (error) => reported.push(error), ...options });
  const connections: RawConnection[] = [];
  const close = async () => {
    for (const connection of connections) connection.end();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    swarm,
    server,
    folder,
    path,
    reported,
    request: (method, at, { body, headers = {}, signal } = {}) =>
      fetch(`http://localhost${at}`, {
        unix: path,
        keepalive: false,
        method,
        headers,
        ...(signal === undefined ? {} : { signal }),
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    async connect(text, { reads = true } = {}) {
      const connection = await connectRaw(path, text, reads);
      connections.push(connection);
      return connection;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function connectRaw(path: string, text: string, reads: boolean): Promise<RawConnection> {
  let received = '';
  let isClosed = false;
  const socket = await Bun.connect({
    unix: path,
    socket: {
      open(opened) {
        if (!reads) opened.pause();
        opened.write(text);
      },
      data(_, bytes) {
        received += bytes.toString();
      },
      close() {
        isClosed = true;
      },
      error: () => undefined,
    },
  });
  return {
    received: () => received,
    isClosed: () => isClosed,
    read: () => socket.resume(),
    end: () => socket.terminate(),
  };
}

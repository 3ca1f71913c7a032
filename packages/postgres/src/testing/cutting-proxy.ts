/**
 * A proxy between a program and PostgreSQL that cuts connections on purpose. It reads the messages of the protocol, so it
 * knows where a statement begins (the client's `Sync` or `Query`) and where its answer ends (`ReadyForQuery`).
 *
 * `before`: the statement never reaches the server. `after`: the server has run the statement, and its answer is lost.
 */
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { StoreAddress } from '../driver/address.ts';
import { type Database, openDatabase } from '../driver/database.ts';
import { afterAll } from './with-postgres.ts';

export type Cut = 'before' | 'after' | undefined;

export interface CuttingProxy {
  readonly port: number;
  /** The number of statements that reached the proxy. */
  readonly statements: number;
  /** Decides about each statement, by its number from 1 on. Without a function, nothing is cut. */
  cutWhen(decide: ((statement: number) => Cut) | undefined): void;
  /** Cuts all connections now. New ones are refused until `heal`. */
  partition(): void;
  /** Keeps connections open, and passes nothing on until `heal`: a server that hangs. */
  freeze(): void;
  /** Passes at most so many bytes a second from each client to the server, until `heal`. */
  slow(bytesPerSecond: number): void;
  heal(): void;
  close(): Promise<void>;
}

/** Opens a database through a proxy, for the tests of a file. */
export async function openCutDatabase(
  address: string,
): Promise<{ readonly proxy: CuttingProxy; readonly cut: Database }> {
  const { hosts, database } = StoreAddress.parse(address);
  const proxy = await startCuttingProxy(hosts[0]?.port ?? 0);
  const cut = openDatabase(`postgres://postgres@127.0.0.1:${proxy.port}/${database}`, { connections: 4 });
  afterAll(async () => {
    proxy.cutWhen(undefined);
    await cut.close();
    await proxy.close();
  });
  return { proxy, cut };
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** The statement whose answer is lost. */
  losing: boolean;
}

const SYNC = 0x53;
const QUERY = 0x51;
const READY = 0x5a;

/** Starts a proxy for the server at this port of this machine. */
export async function startCuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const links = new Set<Link>();
  let statements = 0;
  let decide: ((statement: number) => Cut) | undefined;
  let isParted = false;
  let isFrozen = false;
  let bytesPerSecond = Infinity;
  const cut = (link: Link) => {
    links.delete(link);
    link.client.destroy();
    link.server.destroy();
  };

  const listener: Server = createServer((client) => {
    if (isParted) return void client.destroy();
    const server = createConnection({ port: serverPort, host: '127.0.0.1' });
    const link: Link = { client, server, losing: false };
    links.add(link);
    if (isFrozen) client.pause();
    const asked = messagesOf('client', (type, bytes) => {
      if (type === SYNC || type === QUERY) {
        statements += 1;
        const wanted = decide?.(statements);
        if (wanted === 'before') return cut(link);
        if (wanted === 'after') link.losing = true;
      }
      server.write(bytes);
    });
    const answered = messagesOf('server', (type, bytes) => {
      // A statement is committed when the server is ready again.
      if (link.losing) return type === READY ? cut(link) : undefined;
      client.write(bytes);
    });
    client.on('data', (chunk: Buffer) => {
      asked(chunk);
      if (bytesPerSecond === Infinity) return;
      client.pause();
      setTimeout(() => isFrozen || client.resume(), (1000 * chunk.length) / bytesPerSecond);
    });
    server.on('data', answered);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => cut(link));
      socket.on('close', () => {
        other.end();
        links.delete(link);
      });
    }
  });
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();

  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get statements() {
      return statements;
    },
    cutWhen(next) {
      decide = next;
    },
    partition() {
      isParted = true;
      for (const link of links) cut(link);
    },
    freeze() {
      isFrozen = true;
      for (const { client, server } of links) {
        client.pause();
        server.pause();
      }
    },
    slow(most) {
      bytesPerSecond = most;
    },
    heal() {
      bytesPerSecond = Infinity;
      isParted = false;
      isFrozen = false;
      for (const { client, server } of links) {
        client.resume();
        server.resume();
      }
    },
    async close() {
      for (const link of links) cut(link);
      await new Promise((resolve) => void listener.close(resolve));
    },
  };
}

/**
 * Splits a stream into messages: a type, then a length of four bytes that includes itself. The first message of a client
 * has no type.
 */
function messagesOf(side: 'client' | 'server', take: (type: number, bytes: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let hasType = side === 'server';
  /** Parts of a message that is not complete. A large message is joined once. */
  let parts: Buffer[] = [];
  let [size, needed] = [0, 0];
  return (chunk) => {
    parts.push(chunk);
    size += chunk.length;
    if (size < needed) return;
    rest = parts.length === 1 ? chunk : Buffer.concat(parts);
    for (;;) {
      const start = hasType ? 1 : 0;
      const length = rest.length < start + 4 ? start + 4 : start + rest.readUInt32BE(start);
      if (rest.length < start + 4 || rest.length < length) {
        [parts, size, needed] = [[rest], rest.length, length];
        return;
      }
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      take(hasType ? (message[0] ?? 0) : 0, message);
      hasType = true;
    }
  };
}

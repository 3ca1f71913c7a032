/**
 * The control port of a node: the operations of the control socket over TLS, for other machines.
 *
 * 1. Every request needs a token of the cluster. A token with the scope `read` may use only operations that read.
 * 2. A connection without a right token costs little memory and is closed soon. No body is read before its token is
 *    checked.
 * 3. A request that another node passes on is answered for this node only, so that requests never go in a circle.
 * 4. Questions are answered in the name of the token, whatever name the client sends.
 *
 * The port listens before the node joins its swarm, because the node tells others its address when it joins. Until then,
 * requests are rejected with `E_CONTROL_CLOSED`.
 */
import { networkInterfaces } from 'node:os';
import { GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { parseAddress, RELAYED_BY } from '../../control/fetch-node.ts';
import { type OperationName, operations } from '../../control/operations.ts';
import type { Swarm } from '../../control/swarm.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import { systemClock } from '../../ports/clock.ts';
import type { Tokens } from '../../store/cluster-store.ts';
import { answerRequest } from './answer-request.ts';
import { type CertificateFiles, openCertificate } from './node-certificate.ts';
import { portLimits } from './port-limits.ts';
import { closeServer, type HostOptions, openHost, type SharedHost } from './open-host.ts';
import { codedError, refuse } from './refuse.ts';
import { TokenGate, type TokenOwner } from './token-gate.ts';
import { TokenStreams } from './token-streams.ts';

export interface ControlPortOptions extends HostOptions {
  /** The name of the node. */
  readonly node: string;
  /** The address to listen on, as `host:port`; a free port of the loopback interface when absent. */
  readonly listen?: string;
  /** The files of the certificate; when absent, a certificate is made and its key stays in memory. */
  readonly files?: CertificateFiles;
  readonly portLimits?: Partial<typeof portLimits>;
  /** Receives notes about wrong tokens for the log. */
  readonly warn?: (message: string) => void;
}

export interface ControlPort {
  /** The address for other nodes, and the fingerprint of the certificate. */
  readonly address: string;
  readonly certificate: string;
  /** Begins to answer requests. */
  serve(served: ServedNode): void;
  /** Ends all streams and requests, and stops listening. */
  close(): Promise<void>;
}

export interface ServedNode {
  /** The handle for clients. */
  readonly swarm: Swarm;
  /** The handle of this node alone, for requests that another node passes on. */
  readonly local: Swarm;
  readonly tokens: Tokens;
}

/**
 * Opens the port. **Errors** — `E_CLUSTER_CERTIFICATE`; `E_CONTROL_REQUEST` when `listen` is not an address;
 * `E_CONTROL_PATH` when the port cannot be opened.
 */
export function openControlPort(options: ControlPortOptions): ControlPort {
  const { node, listen = '127.0.0.1:0', files, warn = () => undefined, clock = systemClock } = options;
  const { host: hostname, port } = parseAddress(listen);
  const { certificate, key, fingerprint } = openCertificate(node, clock.now(), files);
  let answer: Answer = async () => refuseStranger(new GoondanError('E_CONTROL_CLOSED', `Node "${node}" is starting.`));
  const limits = { ...portLimits, ...options.portLimits };
  const server = listenAt(listen, () =>
    Bun.serve({
      hostname,
      port,
      // With TLS, Bun shares the port of another server by default.
      reusePort: false,
      tls: { cert: certificate, key },
      // A stream may have no events for hours; bodies have their own deadline. Bun closes a connection that does not finish
      // its handshake or its headers after some seconds in any case.
      idleTimeout: 0,
      // Our own limits are smaller, and their errors have a code.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      fetch: (request, own): Promise<Response> => answer(request, own.requestIP(request)?.address ?? 'unknown'),
    }),
  );
  const host = openHost(options, () => server.pendingRequests);
  let streams: TokenStreams | undefined;
  let closed: Promise<void> | undefined;
  return {
    address: joinAddress(reachableHost(hostname), server.port ?? port),
    certificate: fingerprint,
    serve: (served) => {
      const gate = new TokenGate({ tokens: served.tokens, clock, limits, warn });
      const isRight = (header: string) => gate.isRight(header);
      streams = new TokenStreams({ clock, everyMs: limits.recheckMs, isRight });
      const serving = { host, gate, served, streams };
      answer = (request, from) => answerWithToken(serving, request, from);
    },
    close: () => {
      streams?.closeAll();
      return (closed ??= closeServer(host, server));
    },
  };
}

type Answer = (request: Request, from: string) => Promise<Response>;

interface Serving {
  readonly host: SharedHost;
  readonly gate: TokenGate;
  readonly served: ServedNode;
  readonly streams: TokenStreams;
}

async function answerWithToken(
  { host, gate, served, streams }: Serving,
  request: Request,
  from: string,
): Promise<Response> {
  try {
    const header = request.headers.get('authorization') ?? '';
    const owner = await gate.admit(header, from);
    const swarm = request.headers.has(RELAYED_BY) ? served.local : served.swarm;
    const own = { ...host, swarm, caller: owner.name, open: streams.of(header) };
    return await answerRequest(own, request, (name) => checkScope(owner, name));
  } catch (error) {
    return refuseStranger(codedError(host, error, 'The request'));
  }
}

/** Refuses a request and ends its connection, which a client without a right token must not keep open. */
function refuseStranger(error: GoondanError): Response {
  const response = refuse(error);
  response.headers.set('Connection', 'close');
  return response;
}

function checkScope({ name, scope }: TokenOwner, operation: OperationName): void {
  if (scope === 'operate' || operations[operation].isReading === true) return;
  const message = `The token "${name}" has the scope read, and ${deeds[operation] ?? operation} needs the scope operate.`;
  throw new Refusal(403, 'E_CLUSTER_TOKEN', message);
}

/** The operations that change something, for people, who type commands and do not know these names. */
const deeds: Readonly<Partial<Record<OperationName, string>>> = {
  deleteInstance: 'deleting a conversation',
  forkInstance: 'copying a conversation',
  deliver: 'sending input',
  ask: 'sending input',
  cancel: 'cancelling a turn',
  retryDeadLetter: 'retrying a dead letter',
  dropDeadLetter: 'dropping a dead letter',
  answer: 'answering a question',
  revoke: 'revoking an answer',
  restart: 'restarting an agent',
  reload: 'reloading the bundle',
  stop: 'stopping a node',
};

function listenAt<Server>(address: string, listen: () => Server): Server {
  try {
    return listen();
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const suggestion = isTaken
      ? 'Choose another port with `--listen HOST:PORT`, or stop the program that has it.'
      : 'Choose another address with `--listen HOST:PORT`.';
    const problem = isTaken ? 'another program has this port' : messageOf(error).replace(/\.$/, '');
    const message = `The control port cannot listen at ${address}: ${problem}.`;
    throw new GoondanError('E_CONTROL_PATH', message, { suggestion, cause: error });
  }
}

/** Returns an address under which other machines find this one, if the port listens at all of its addresses. */
function reachableHost(hostname: string): string {
  if (hostname !== '0.0.0.0' && hostname !== '::') return hostname;
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const found = outside.find(({ family }) => family === 'IPv4') ?? (hostname === '::' ? outside[0] : undefined);
  return found?.address ?? '127.0.0.1';
}

function joinAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

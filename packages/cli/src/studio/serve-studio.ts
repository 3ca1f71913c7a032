/**
 * The server of Studio: a page for people, and the page's data, on this machine only (docs/studio.md).
 *
 * 1. It listens only on 127.0.0.1.
 * 2. Every request passes the same checks in order, before anything is read: its host, the page it comes from, its
 *    method, its token.
 * 3. Every request gets a response, and every error response has a code; no request causes an exception.
 * 4. No code of a bundle runs, and no address becomes a file path.
 */
import { type Clock, systemClock } from '@goondan/runtime/internal';
import { GoondanError, type Prices } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { personName } from '../question/person-name.ts';
import { answerApi } from './api/answer-api.ts';
import { checkSender } from './http/check-sender.ts';
import { answerFile, type PageFiles, readPageFiles } from './http/page-files.ts';
import { protect } from './http/protect.ts';
import { askForLink } from './http/small-pages.ts';
import { StudioSession } from './http/studio-session.ts';
import { refuse } from './http/refuse.ts';
import type { NoticeSocket } from './notice-socket.ts';
import type { OpenedSwarm } from './opened-swarm.ts';
import { SharedReads } from './shared-reads.ts';
import { StreamRoom } from './stream-room.ts';
import type { StudioHost } from './studio-host.ts';
import { warnOnce } from './warn-once.ts';

export interface StudioOptions {
  readonly stateRoot: string;
  /** The store whose swarms are shown; without it, those of the state root. */
  readonly cluster?: ClusterAccess;
  /** The version of this `gdn`. */
  readonly version: string;
  readonly opened?: OpenedSwarm;
  /** The prices of model calls; without them, no cost is shown. */
  readonly prices?: Prices;
  /** The port to listen on; a free port when absent. */
  readonly port?: number;
  /** The token of the link; random when absent. */
  readonly token?: string;
  /** The files of the page; the built page when absent. */
  readonly page?: PageFiles;
  /** Returns the name under which answers are recorded; the user of this process when absent. */
  readonly nameOfPerson?: () => string;
  readonly clock?: Clock;
  /** Called with errors that the client does not see. It must not throw. */
  readonly report: (text: string) => void;
}

export interface Studio {
  /** The link to Studio, including the token. */
  readonly url: string;
  readonly port: number;
  /** The number of open streams. */
  readonly streams: number;
  /** Returns a link that works once, within a minute. It may appear on a command line. */
  ticketUrl(): string;
  /** Ends every stream. Resolves when the port is closed. */
  stop(): Promise<void>;
}

/** **Errors** — `E_STUDIO_PAGE`, `E_STUDIO_PORT`. */
export function serveStudio(options: StudioOptions): Studio {
  const { stateRoot, cluster, version, opened, prices, clock = systemClock, report, page = readPageFiles() } = options;
  const { nameOfPerson = personName } = options;
  const streams = new StreamRoom();
  const warn = warnOnce(report);
  const host: StudioHost = {
    ...{ stateRoot, version, nameOfPerson, clock, streams, warn, reads: new SharedReads() },
    upgrade: (request, socket) => server.upgrade(request, { data: socket }),
    ...(opened && { opened }),
    ...(prices && { prices }),
    ...(cluster && { cluster }),
  };
  const server = listen(options.port ?? 0, (request) => answer(request));
  const { port = 0 } = server;
  const session = new StudioSession({ port, clock, ...(options.token !== undefined && { token: options.token }) });
  const urlWith = (token: string) => `http://127.0.0.1:${port}/?token=${token}`;
  return {
    url: urlWith(session.token),
    port,
    get streams() {
      return streams.size;
    },
    ticketUrl: () => urlWith(session.newTicket()),
    // Closes every connection, and so every stream.
    stop: () => server.stop(true),
  };

  async function answer(request: Request): Promise<Response | undefined> {
    try {
      const response = await find(request);
      return response && protect(response, port);
    } catch (error) {
      return protect(refuseTo(request, error), port);
    }
  }

  /** Returns `undefined` when the request has become a WebSocket. */
  async function find(request: Request): Promise<Response | undefined> {
    checkSender(request, port, URL.parse(request.url)?.pathname === '/');
    const url = checkAddress(request);
    const token = url.pathname === '/' && request.method === 'GET' ? url.searchParams.get('token') : null;
    if (token !== null) return session.enter(token, request);
    session.check(request);
    if (url.pathname.startsWith(API)) return answerApi(host, request, url, url.pathname.slice(API.length));
    const file = page.get(url.pathname);
    if (file === undefined) throw new Refusal(404, 'E_STUDIO_REQUEST', 'There is no such page.');
    if (request.method !== 'GET') throw wrongMethod(request.method, 'GET');
    return answerFile(file);
  }

  function refuseTo(request: Request, error: unknown): Response {
    const isStranger = error instanceof Refusal && error.status === 401;
    if (isStranger && (request.headers.get('accept') ?? '').includes('text/html')) return askForLink(error.message);
    return refuse(error, (unforeseen) => report(`Studio: ${String(unforeseen)}\n`));
  }
}

const API = '/api/';
const LONGEST_ADDRESS = 4_096;

/** **Errors** — `E_STUDIO_REQUEST`. */
function checkAddress({ url: text, method }: Request): URL {
  if (method !== 'GET' && method !== 'POST') throw wrongMethod(method, 'GET, POST');
  if (text.length > LONGEST_ADDRESS) throw new Refusal(414, 'E_STUDIO_REQUEST', 'The address is too long.');
  const url = URL.parse(text);
  if (url === null) throw new Refusal(400, 'E_STUDIO_REQUEST', 'The address of the request is not a URL.');
  return url;
}

function wrongMethod(method: string, allowed: string): Refusal {
  const message = `Studio supports ${allowed} here, not ${method.slice(0, 20)}.`;
  return new Refusal(405, 'E_STUDIO_REQUEST', message, { Allow: allowed });
}

function listen(port: number, fetch: (request: Request) => Promise<Response | undefined>) {
  try {
    return Bun.serve<NoticeSocket>({
      hostname: '127.0.0.1',
      port,
      // Disables the timeout: a stream may be quiet for hours, and reading a body has its own deadline.
      idleTimeout: 0,
      // Disables Bun's limit, because Studio's own limit is smaller, and its error has a message.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // By default Bun shares the port with other processes.
      reusePort: false,
      fetch,
      websocket: {
        open: (socket) => socket.data.opened(socket),
        drain: ({ data }) => data.drained(),
        message: ({ data }) => data.heard(),
        close: ({ data }) => data.closed(),
        // A page sends nothing, so small messages suffice; pings show whether the page is still connected.
        maxPayloadLength: 1_024,
        idleTimeout: 60,
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GoondanError('E_STUDIO_PORT', `Studio cannot listen on port ${port}: ${reason}`, { cause: error });
  }
}

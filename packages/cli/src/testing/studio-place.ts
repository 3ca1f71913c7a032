/** For tests: a Studio in this process with its own state root, and a client that has access to it. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PageFiles } from '../studio/http/page-files.ts';
import type { StudioNotice } from '../studio/contract.ts';
import { serveStudio, type Studio, type StudioOptions } from '../studio/serve-studio.ts';

const file = (text: string, type: string, isHashed: boolean) => ({
  bytes: new TextEncoder().encode(text),
  type,
  isHashed,
});

/** A page that needs no build. */
export const smallPage: PageFiles = new Map([
  ['/', file('<!doctype html><title>Studio</title>', 'text/html; charset=utf-8', false)],
  ['/chunk-0123abcd.js', file('0;', 'text/javascript; charset=utf-8', true)],
]);

export interface StudioRequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** If true, the request has no cookie. */
  readonly isStranger?: boolean;
}

export class StudioPlace {
  readonly stateRoot = realpathSync(mkdtempSync(join(tmpdir(), 'gdn-studio-')));
  readonly reported: string[] = [];
  readonly studio: Studio;
  readonly origin: string;
  #cookie = '';

  constructor(options: Partial<StudioOptions> = {}) {
    const report = (text: string) => void this.reported.push(text);
    this.studio = serveStudio({ stateRoot: this.stateRoot, version: '9.9.9', page: smallPage, report, ...options });
    this.origin = `http://127.0.0.1:${this.studio.port}`;
  }

  /** Opens the printed link as a browser does. */
  async enter(url = this.studio.url): Promise<Response> {
    const response = await fetch(url, { redirect: 'manual' });
    this.#cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
    return response;
  }

  get cookie(): string {
    return this.#cookie;
  }

  /** Sends a request as the page does, unless its headers say otherwise. */
  ask(path: string, { method, headers = {}, body, signal, isStranger = false }: StudioRequestOptions = {}) {
    const isPost = body !== undefined;
    return fetch(`${this.origin}${path}`, {
      method: method ?? (isPost ? 'POST' : 'GET'),
      redirect: 'manual',
      keepalive: false,
      headers: {
        ...(isStranger ? {} : { Cookie: this.#cookie }),
        ...(isPost ? { Origin: this.origin, 'Content-Type': 'application/json' } : {}),
        ...headers,
      },
      ...(isPost ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Returns the JSON of the answer, whatever its status. */
  async read<Answer>(path: string, options?: StudioRequestOptions): Promise<Answer> {
    // The cast is as safe as in the page, which trusts the contract in the same way.
    return (await this.ask(path, options)).json() as Promise<Answer>;
  }

  /** Sends raw bytes, which may not be HTTP, and returns the first answer. */
  async raw(bytes: string): Promise<string> {
    const received: string[] = [];
    const answered = Promise.withResolvers<void>();
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: this.studio.port,
      socket: {
        open: (opened) => void opened.write(bytes),
        data(_, chunk) {
          received.push(chunk.toString());
          answered.resolve();
        },
        close: () => answered.resolve(),
        error: () => answered.resolve(),
      },
    });
    await Promise.race([answered.promise, Bun.sleep(20_000)]);
    socket.terminate();
    return received.join('');
  }

  /** Collects the notices of a stream. */
  watch(workspaceId: string, headers: Readonly<Record<string, string>> = {}): WatchedStream {
    const notices: StudioNotice[] = [];
    const closed = Promise.withResolvers<string>();
    const url = `ws://127.0.0.1:${this.studio.port}/api/workspaces/${workspaceId}/events`;
    const socket = new WebSocket(url, { headers: { Cookie: this.#cookie, Origin: this.origin, ...headers } });
    socket.addEventListener('message', ({ data }) => void notices.push(JSON.parse(String(data))));
    socket.addEventListener('close', ({ reason }) => closed.resolve(reason));
    return { notices, closed: closed.promise, say: (text) => socket.send(text), leave: () => socket.close() };
  }

  async remove(): Promise<void> {
    await this.studio.stop();
    rmSync(this.stateRoot, { recursive: true, force: true });
  }
}

export interface WatchedStream {
  readonly notices: readonly StudioNotice[];
  /** Resolves with the reason that the server gave when it closed the stream. */
  readonly closed: Promise<string>;
  readonly say: (text: string) => void;
  readonly leave: () => void;
}

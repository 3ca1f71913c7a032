/**
 * The stream of notices of a workspace, while the page is open. It is a WebSocket, which does not count among the six
 * connections that a browser allows for all pages of one server.
 *
 * 1. When the stream ends, the page reconnects after a moment.
 * 2. Notices are passed on in batches, so that a fast model does not redraw the page with every word.
 */
import type { StudioNotice } from '@goondan/cli/studio';

export interface StreamListener {
  /** Called when the stream has opened. Earlier notices were missed. */
  readonly opened: () => void;
  /** Called when the stream closed. `reason` is the server's reason, if it gave one. */
  readonly lost: (reason: string) => void;
  readonly heard: (notices: readonly StudioNotice[]) => void;
}

const GATHER_MS = 50;
/**
 * The maximum number of notices in a batch. A limit is needed, because timers are slow while a page is in the
 * background.
 */
const MOST_GATHERED = 2_000;
const RETRY_MS = 3_000;

/** Returns a function that closes the stream. */
export function followStream(address: string, { opened, lost, heard }: StreamListener): () => void {
  const url = new URL(address, location.href);
  url.protocol = 'ws:';
  const left = new AbortController();
  const { signal } = left;
  let gathered: StudioNotice[] = [];
  let lastAt = 0;
  const timers = new Map<() => void, ReturnType<typeof setTimeout>>();
  open();
  return () => {
    for (const timer of timers.values()) clearTimeout(timer);
    left.abort();
  };

  function open(): void {
    const stream = new WebSocket(url);
    stream.addEventListener('message', ({ data }: MessageEvent<string>) => hear(data), { signal });
    stream.addEventListener('open', opened, { signal });
    stream.addEventListener(
      'close',
      ({ reason }) => {
        lost(reason);
        after(RETRY_MS, open);
      },
      { signal },
    );
    signal.addEventListener('abort', () => stream.close(), { once: true });
  }

  function hear(data: string): void {
    // The cast is safe: both sides share one contract, as in ask-server.ts.
    gathered.push(JSON.parse(data) as StudioNotice);
    const restMs = lastAt + GATHER_MS - Date.now();
    if (restMs <= 0 || gathered.length >= MOST_GATHERED) handOn();
    else after(restMs, handOn);
  }

  function handOn(): void {
    if (gathered.length === 0) return;
    const notices = gathered;
    gathered = [];
    lastAt = Date.now();
    heard(notices);
  }

  /** Runs `act` once after the delay, however often it is requested meanwhile. */
  function after(milliseconds: number, act: () => void): void {
    if (timers.has(act)) return;
    const run = () => {
      timers.delete(act);
      act();
    };
    timers.set(act, setTimeout(run, milliseconds));
  }
}

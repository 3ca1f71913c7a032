/**
 * A workspace's stream of notices, for as long as somebody looks.
 *
 * 1. A stream that ends is opened again: by the browser when the connection broke, by us when the server refused.
 * 2. Notices are handed on several at a time: a model that writes fast must not draw the page anew with every word.
 * 3. A page that nobody sees lets its stream go: a browser has only six connections for all pages of one server.
 */
import type { StudioNotice } from '@goondan/cli/studio';

export interface StreamListener {
  /** Whoever hears this has missed what happened before. */
  readonly opened: () => void;
  readonly lost: () => void;
  readonly heard: (notices: readonly StudioNotice[]) => void;
}

const GATHER_MS = 50;
/** Of notices: timers of a page in the background are slow. */
const MOST_GATHERED = 2_000;
const RETRY_MS = 3_000;
const UNSEEN_MS = 10_000;

/** Returns what ends it. */
export function followStream(address: string, { opened, lost, heard }: StreamListener): () => void {
  let stream: EventSource | undefined;
  let gathered: StudioNotice[] = [];
  let lastAt = 0;
  const timers = new Map<() => void, ReturnType<typeof setTimeout>>();
  document.addEventListener('visibilitychange', look);
  open();
  return () => {
    document.removeEventListener('visibilitychange', look);
    for (const timer of timers.values()) clearTimeout(timer);
    stream?.close();
  };

  function open(): void {
    stream = new EventSource(address);
    stream.addEventListener('open', opened);
    stream.addEventListener('error', fail);
    stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
      // As in ask-server.ts: one contract for both sides.
      gathered.push(JSON.parse(data) as StudioNotice);
      const restMs = lastAt + GATHER_MS - Date.now();
      if (restMs <= 0 || gathered.length >= MOST_GATHERED) handOn();
      else after(restMs, handOn);
    });
  }

  function fail(): void {
    lost();
    if (stream?.readyState === EventSource.CLOSED) after(RETRY_MS, open);
  }

  function handOn(): void {
    if (gathered.length === 0) return;
    const notices = gathered;
    gathered = [];
    lastAt = Date.now();
    heard(notices);
  }

  function look(): void {
    if (document.visibilityState === 'hidden') return after(UNSEEN_MS, leave);
    clearTimeout(timers.get(leave));
    timers.delete(leave);
    if (stream === undefined) open();
  }

  function leave(): void {
    stream?.close();
    stream = undefined;
    clearTimeout(timers.get(open));
    timers.delete(open);
  }

  /** Once, however often it is asked for meanwhile. */
  function after(milliseconds: number, act: () => void): void {
    if (timers.has(act)) return;
    const run = () => {
      timers.delete(act);
      act();
    };
    timers.set(act, setTimeout(run, milliseconds));
  }
}

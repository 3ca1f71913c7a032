/**
 * Watches one model call: it ends when the caller's signal aborts, when nothing was heard for too long, or when it
 * takes too long in all. "Heard" means bytes from the network, pings of the provider included, so the watch sits in
 * `fetch`. Whatever ends the call aborts the HTTP request.
 */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../../../ports/clock.ts';
import type { Fetch } from '../model-port.ts';

export interface Deadlines {
  /** Without a byte. */
  readonly silenceMs: number;
  /** In all. */
  readonly totalMs: number;
}

interface WatchOptions {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** The caller's. */
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
  /** Told the body of the request, as it is sent. */
  readonly onSent?: (body: string) => void;
  /** For messages to people. */
  readonly label: string;
}

export function watchCall({ clock, deadlines, signal, fetch: send, onSent, label }: WatchOptions) {
  const controller = new AbortController();
  const end = (reason: unknown) => controller.abort(reason);
  const follow = () => end(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener('abort', follow, { once: true });

  let accepted = false;
  let heardAt = clock.elapsed();
  const hear = () => {
    heardAt = clock.elapsed();
  };

  const callOffTotal = clock.after(deadlines.totalMs, () =>
    end(timeout(`${label} took longer than ${seconds(deadlines.totalMs)} in all.`)),
  );
  // One timer that looks how long ago the last byte was, instead of a new timer for each byte.
  let callOffSilence = clock.after(deadlines.silenceMs, function look() {
    const left = deadlines.silenceMs - (clock.elapsed() - heardAt);
    if (left > 0) callOffSilence = clock.after(left, look);
    else end(timeout(`${label} was silent for ${seconds(deadlines.silenceMs)}.`));
  });

  const watchedFetch: Fetch = async (input, init) => {
    // A redirect would carry the key to another host. Bun's own timeout would come before a longer one of ours.
    const answer = send(input, { ...init, redirect: 'manual', timeout: false } as RequestInit);
    // It is on its way: what the listener does takes no time from it.
    if (typeof init?.body === 'string') onSent?.(init.body);
    const response = await answer;
    hear();
    accepted = response.ok;
    if (accepted && response.headers.get('content-type')?.includes('text/html')) throw await webPage(response, label);
    return hearBody(response, hear);
  };

  return {
    /** Aborted when the call has to end; its reason is what the caller should be told. */
    signal: controller.signal,
    // Bun's `fetch` has this second member; providers do not call it.
    fetch: Object.assign(watchedFetch, { preconnect: () => {} }),
    /** Whether the provider accepted the request: it answered with a status of success. */
    get accepted() {
      return accepted;
    },
    /** Settles like `work`, but at once when the call has to end. */
    untilEnded: <Value>(work: PromiseLike<Value>): Promise<Value> => raceWithAbort(work, controller.signal),
    /** Stops watching, and lets go of a request that is still open. */
    close() {
      callOffTotal();
      callOffSilence();
      signal.removeEventListener('abort', follow);
      end(new Error('The call is over.'));
    },
  };
}

/** The same response; `hear` is called for each chunk of its body. */
function hearBody(response: Response, hear: () => void): Response {
  if (response.body === null) return response;
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      hear();
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(heard), { status, statusText, headers });
}

/** The sign of a wrong endpoint; the provider's package would only say that the stream ended early. */
async function webPage(response: Response, label: string): Promise<GoondanError> {
  const page = (await response.text()).slice(0, 200);
  return new GoondanError('E_MODEL_REPLY', `${label} answered with a web page: ${page}`, {
    suggestion: "Check the Model's endpoint: most end in /v1.",
  });
}

function raceWithAbort<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    // Also handles a late rejection of work that nobody waits for any more.
    work.then(resolve, reject);
  });
}

function timeout(message: string): GoondanError {
  return new GoondanError('E_MODEL_TIMEOUT', message, { retryable: true });
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

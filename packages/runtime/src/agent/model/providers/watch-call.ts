/**
 * Watches one model call. The call ends when the caller's signal aborts, when no byte arrives for too long, when the
 * total time is over, or when the answer has too many bytes. In each case the HTTP request is aborted. The bytes are
 * watched inside `fetch`, so that a provider's pings count too.
 */
import { GoondanError } from '@goondan/types';
import { readField } from '../../../json/read-field.ts';
import { unlessAborted } from '../../../ports/unless-aborted.ts';
import type { Fetch } from '../model-port.ts';
import type { ProviderCall } from './call-provider.ts';
import type { CallSettings } from './read-provider-options.ts';

/** The maximum number of bytes of one answer. Each token of a stream takes some hundred bytes. */
const MOST_BYTES = 128 * 1024 * 1024;

interface CallListener {
  /** Called with the request body when the request is sent. */
  onSent?(body: string): void;
  /** Called when the provider may have begun to answer. */
  onBegun?(): void;
}

/** `signal`: the caller's signal. */
export function watchCall(
  { clock, fetch: send, label }: Pick<ProviderCall, 'clock' | 'fetch' | 'label'>,
  deadlines: CallSettings['deadlines'],
  signal: AbortSignal,
  listener: CallListener = {},
) {
  const controller = new AbortController();
  const end = (reason: unknown) => controller.abort(reason);
  const follow = () => end(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener('abort', follow, { once: true });

  let accepted = false;
  let heardAt = clock.elapsed();
  let heardBytes = 0;
  const hear = (bytes = 0) => {
    heardAt = clock.elapsed();
    heardBytes += bytes;
    if (heardBytes <= MOST_BYTES) return;
    const error = tooLong(label);
    end(error);
    throw error;
  };

  const callOffTotal = clock.after(deadlines.totalMs, () =>
    end(timeout(`${label} took longer than ${seconds(deadlines.totalMs)} in all.`)),
  );
  // The timer checks when the last byte arrived. A new timer for each byte would cost more.
  let callOffSilence = clock.after(deadlines.silenceMs, function look() {
    const left = deadlines.silenceMs - (clock.elapsed() - heardAt);
    if (left > 0) callOffSilence = clock.after(left, look);
    else end(timeout(`${label} was silent for ${seconds(deadlines.silenceMs)}.`));
  });

  const watchedFetch: Fetch = async (input, init) => {
    // Redirects are not followed, because they would send the key to another host. Bun's own timeout is off, because it
    // could end the call before our deadlines do.
    const answer = send(input, { ...init, redirect: 'manual', timeout: false } as RequestInit);
    // The request was already sent, so the listener does not delay it.
    if (typeof init?.body === 'string') listener.onSent?.(init.body);
    const response = await answer.catch((error: unknown) => {
      if (!isUnconnected(error)) listener.onBegun?.();
      throw error;
    });
    hear();
    accepted = response.ok;
    if (accepted) listener.onBegun?.();
    const heard = hearBody(response, hear);
    if (accepted && response.headers.get('content-type')?.includes('text/html')) throw await webPage(heard, label);
    return heard;
  };

  return {
    /** Aborts when the call has to end; the reason is the error for the caller. */
    signal: controller.signal,
    // The type of Bun's `fetch` requires `preconnect`; providers do not call it.
    fetch: Object.assign(watchedFetch, { preconnect: () => {} }),
    /** True once the provider answered with a success status. */
    get accepted() {
      return accepted;
    },
    /** Settles like `work`, or rejects as soon as the call has to end. */
    untilEnded: <Value>(work: PromiseLike<Value>): Promise<Value> => unlessAborted(work, controller.signal),
    /** Stops watching and aborts a request that is still open. */
    close() {
      callOffTotal();
      callOffSilence();
      signal.removeEventListener('abort', follow);
      end(new Error('The call is over.'));
    },
  };
}

const unconnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EPROTO|ERR_TLS_|CERT_|UNABLE_TO_|.*SELF_SIGNED)/;

/** Returns true if `fetch` failed before it had a connection. After any other failure, the provider may have the request. */
function isUnconnected(error: unknown): boolean {
  return unconnected.test(String(readField(error, 'code')));
}

/** Returns an equal response that calls `hear` for each chunk of its body, and fails if `hear` throws. */
function hearBody(response: Response, hear: (bytes: number) => void): Response {
  if (response.body === null) return response;
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      hear(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(heard), { status, statusText, headers });
}

/**
 * Makes the error for an answer that is a web page, which means that the endpoint is wrong. The provider's package
 * would only report that the stream ended early.
 */
async function webPage(response: Response, label: string): Promise<GoondanError> {
  const page = (await response.text()).slice(0, 200);
  return new GoondanError('E_MODEL_REPLY', `${label} answered with a web page: ${page}`, {
    suggestion: "Check the Model's endpoint: most end in /v1.",
    failure: 'format',
  });
}

function tooLong(label: string): GoondanError {
  return new GoondanError('E_MODEL_REPLY', `${label} answered with more than ${MOST_BYTES} bytes.`, {
    failure: 'format',
  });
}

function timeout(message: string): GoondanError {
  return new GoondanError('E_MODEL_TIMEOUT', message, { retryable: true, failure: 'timeout' });
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

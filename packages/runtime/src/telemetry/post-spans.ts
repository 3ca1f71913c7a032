/** Posts spans to the collector and interprets its answer. No other file sends requests to the collector. */
import { VERSION } from '../config/version.ts';
import type { Clock } from '../ports/clock.ts';
import type { TelemetrySettings } from '../config/telemetry-settings.ts';

export type PostOutcome =
  /**
   * The collector accepted the post. `rejected`: the number of spans that it rejected nevertheless. `why`: the
   * collector's reason.
   */
  | { readonly type: 'taken'; readonly rejected: number; readonly why: string }
  /** The collector rejected the post, and a retry would not help. */
  | { readonly type: 'refused'; readonly why: string }
  /** The collector could not be reached, and a retry may succeed. */
  | { readonly type: 'away'; readonly why: string; readonly retryAfterMs?: number };

/** Identifies the exporter, its language and version, as the OTLP specification requires. */
const USER_AGENT = `goondan-otlp-exporter-js/${VERSION}`;
/** The statuses to retry, according to the OTLP specification. */
const LATER: readonly number[] = [429, 502, 503, 504];
const LONGEST_ANSWER = 64_000;
const LONGEST_WHY = 200;

/** Makes the function that posts spans. The function never rejects. */
export function postSpansTo(
  { endpoint, headers, timeoutMs }: Pick<TelemetrySettings, 'endpoint' | 'headers' | 'timeoutMs'>,
  clock: Clock,
  send: (url: string, request: RequestInit) => Promise<Response>,
): (body: string, signal: AbortSignal) => Promise<PostOutcome> {
  return async (body, signal) => {
    const late = new AbortController();
    const callOff = clock.after(timeoutMs, () => late.abort(new Error(`no answer within ${timeoutMs} ms`)));
    const given = AbortSignal.any([signal, late.signal]);
    try {
      const response = await send(endpoint, {
        method: 'POST',
        headers: { 'user-agent': USER_AGENT, ...headers, 'content-type': 'application/json' },
        body,
        signal: given,
        // Redirects are not followed, because the target must not get the headers.
        redirect: 'manual',
      });
      return await outcomeOf(response, clock);
    } catch (error) {
      const thrown: unknown = given.aborted ? given.reason : error;
      return { type: 'away', why: reasonOf(thrown) };
    } finally {
      callOff();
    }
  };
}

async function outcomeOf(response: Response, clock: Clock): Promise<PostOutcome> {
  const { status } = response;
  const answer = await readAnswer(response);
  if (response.ok) return { type: 'taken', ...readPartialSuccess(answer) };
  const why = `it answers ${status}`;
  if (!LATER.includes(status)) return { type: 'refused', why };
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), clock.now());
  return { type: 'away', why, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Reads only the beginning of an answer, because the answer may be endless. */
async function readAnswer({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  // Leaving the loop cancels the rest of the body.
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > LONGEST_ANSWER) break;
  }
  return text;
}

function readPartialSuccess(answer: string): { rejected: number; why: string } {
  try {
    // Safe: the answer is foreign data, so every field is checked.
    const { partialSuccess } = JSON.parse(answer) as {
      partialSuccess?: { rejectedSpans?: unknown; errorMessage?: unknown };
    };
    const rejected = Number(partialSuccess?.rejectedSpans ?? 0);
    const message = partialSuccess?.errorMessage;
    const why = typeof message === 'string' && message !== '' ? message.slice(0, LONGEST_WHY) : 'it gives no reason';
    return { rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0, why };
  } catch {
    // The post was accepted, so an unreadable answer does not matter.
    return { rejected: 0, why: '' };
  }
}

/** Reads the header, which contains seconds or a date. */
function readRetryAfter(header: string | null, now: Date): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now.getTime() : seconds * 1_000;
  return ms >= 0 ? ms : undefined;
}

function reasonOf(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, LONGEST_WHY);
}

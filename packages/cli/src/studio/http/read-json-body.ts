import { type Clock, systemClock } from '@goondan/runtime';
import { StudioRefusal } from './studio-refusal.ts';

const LONGEST = 1_000_000;
const WITHIN_MS = 30_000;

/** Never holds more than a megabyte, nor waits longer than half a minute. **Errors** — `E_STUDIO_REQUEST`. */
export async function readJsonBody(request: Request, clock: Clock = systemClock): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw refusal(415, 'The body of the request must be `application/json`.');
  }
  return parse(await readBytes(request, clock));
}

async function readBytes(request: Request, clock: Clock): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  let isLate = false;
  const callOff = clock.after(WITHIN_MS, () => {
    isLate = true;
    reader.cancel().catch(() => undefined);
  });
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(brokenOff);
      if (isLate) throw refusal(408, 'The body of the request did not come in time.');
      if (done) return Buffer.concat(pieces, length);
      length += value.length;
      if (length > LONGEST) throw tooLong();
      pieces.push(value);
    }
  } finally {
    callOff();
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refusal(400, 'The body of the request is not JSON in UTF-8.');
  }
}

function brokenOff(): never {
  throw refusal(400, 'The body of the request broke off.');
}

function tooLong(): StudioRefusal {
  return refusal(413, `The body of the request is longer than the ${LONGEST} bytes allowed.`);
}

/** What is left of a body would else be read as the next request. */
function refusal(status: number, message: string): StudioRefusal {
  return new StudioRefusal(status, 'E_STUDIO_REQUEST', message, { Connection: 'close' });
}

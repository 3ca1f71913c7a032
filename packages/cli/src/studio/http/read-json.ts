import { type Clock, readJsonBody, systemClock } from '@goondan/runtime/internal';
import { StudioRefusal } from './studio-refusal.ts';

const bounds = { longest: 1_000_000, withinMs: 30_000 };

/** The body of a request of the page. **Errors** — `E_STUDIO_REQUEST`. */
export async function readJson(request: Request, clock: Clock = systemClock): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw refuse(415, 'The body of the request must be `application/json`.');
  return readJsonBody(request, { ...bounds, clock }, refuse);
}

/** What is left of a body would else be read as the next request. */
function refuse(status: number, message: string): StudioRefusal {
  return new StudioRefusal(status, 'E_STUDIO_REQUEST', message, { Connection: 'close' });
}

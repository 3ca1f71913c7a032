import type { Clock } from '@goondan/runtime/internal';
import { checkJsonType, parseJson, readBody, Refusal, type RefuseBody } from '@goondan/types/http';

const withinMs = 30_000;
const LONGEST = 1_000_000;
/** The longest body of an input with files. The swarm has its own, smaller limit, and says so. */
export const LONGEST_INPUT = 128_000_000;

/** Reads the JSON body of a request from the page. **Errors** — `E_STUDIO_REQUEST`. */
export async function readJson(request: Request, clock?: Clock, longest = LONGEST): Promise<unknown> {
  checkJsonType(request, refuse);
  const bytes = await readBody(request, { longest, withinMs, ...(clock && { clock }) }, refuse);
  return bytes.length === 0 ? undefined : parseJson(bytes, refuse);
}

function refuse(...[status, message, headers]: Parameters<RefuseBody>): Refusal {
  return new Refusal(status, 'E_STUDIO_REQUEST', message, headers);
}

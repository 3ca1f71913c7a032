import type { Clock } from '@goondan/runtime/internal';
import { checkJsonType, parseJson, readBody, Refusal, type RefuseBody } from '@goondan/types/http';

const bounds = { longest: 1_000_000, withinMs: 30_000 };

/** Reads the JSON body of a request from the page. **Errors** — `E_STUDIO_REQUEST`. */
export async function readJson(request: Request, clock?: Clock): Promise<unknown> {
  checkJsonType(request, refuse);
  const bytes = await readBody(request, { ...bounds, ...(clock && { clock }) }, refuse);
  return bytes.length === 0 ? undefined : parseJson(bytes, refuse);
}

function refuse(...[status, message, headers]: Parameters<RefuseBody>): Refusal {
  return new Refusal(status, 'E_STUDIO_REQUEST', message, headers);
}

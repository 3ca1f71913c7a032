/** Finds the handler for an address below `/api`, according to the table in `contract.ts`. */
import { Refusal } from '@goondan/types/http';
import type { StudioHost } from '../studio-host.ts';
import { LONGEST_INPUT, readJson } from '../http/read-json.ts';
import { readQuery } from '../http/read-query.ts';
import { answerGet } from './answer-get.ts';
import { answerPost } from './answer-post.ts';
import { findPlace, listAll } from './list-workspaces.ts';
import { streamNotices } from './stream-notices.ts';

/**
 * `path` is the part of the address after `/api/`. Returns `undefined` when the request has become a WebSocket.
 *
 * **Errors** — `E_STUDIO_REQUEST`, and those of the handler.
 */
export async function answerApi(
  host: StudioHost,
  request: Request,
  url: URL,
  path: string,
): Promise<Response | undefined> {
  const [first, id, what = '', ...more] = path.split('/').map(decode);
  if (first !== 'workspaces' || more.length > 0) throw unknown(url);
  if (id === undefined) {
    checkMethod(request, 'GET', url);
    readQuery(url, []);
    return Response.json(await host.reads.run('workspaces', () => listAll(host)));
  }
  const place = await findPlace(host, id);
  if (what === 'events') {
    checkMethod(request, 'GET', url);
    readQuery(url, []);
    return streamNotices(host, place, request);
  }
  const post = answerPost.get(what);
  if (post !== undefined) {
    checkMethod(request, 'POST', url);
    readQuery(url, []);
    const longest = what === 'send' ? LONGEST_INPUT : undefined;
    return Response.json(await post(host, place, await readJson(request, host.clock, longest)));
  }
  const get = path.endsWith('/') ? undefined : answerGet.get(what);
  if (get === undefined) throw unknown(url);
  checkMethod(request, 'GET', url);
  return Response.json(await get(host, place, url));
}

/** Decodes one part of the address. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Refusal(400, 'E_STUDIO_REQUEST', 'The address of the request is not well formed.');
  }
}

function checkMethod({ method }: Request, allowed: 'GET' | 'POST', { pathname }: URL): void {
  if (method === allowed) return;
  const message = `${pathname.slice(0, 100)} supports ${allowed}, not ${method.slice(0, 20)}.`;
  throw new Refusal(405, 'E_STUDIO_REQUEST', message, { Allow: allowed });
}

function unknown({ pathname }: URL): Refusal {
  return new Refusal(404, 'E_STUDIO_REQUEST', `There is nothing at ${pathname.slice(0, 100)}.`);
}

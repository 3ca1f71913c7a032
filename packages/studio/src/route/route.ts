/** The current view, stored in the address after `#`, so that links, reloads and the back button work. */

export interface Route {
  readonly workspaceId?: string;
  readonly agent?: string;
  readonly instanceKey?: string;
  /** The event after which to show the conversation; the newest event when absent. */
  readonly at?: number;
  /** The id of the turn whose onion is open. */
  readonly turn?: string;
  /** True if the sidebar lists only conversations whose last turn failed. */
  readonly failed?: true;
}

/** A change of the route; `undefined` removes a field. */
export type RouteChange = { readonly [Name in keyof Route]?: Route[Name] | undefined };

/** Shows another view. `replace`: does not add an entry to the browser's history. */
export type Show = (change: RouteChange, replace?: boolean) => void;

export function changeRoute(route: Route, change: RouteChange): Route {
  const changed = Object.entries({ ...route, ...change }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(changed);
}

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [workspaceId, agent, instanceKey] = path.split('/').map(decodePart);
  const params = new URLSearchParams(query);
  const at = Number(params.get('at') ?? Number.NaN);
  const turn = params.get('turn') ?? '';
  return {
    ...(workspaceId ? { workspaceId } : {}),
    ...(workspaceId && agent && instanceKey !== undefined ? { agent, instanceKey } : {}),
    ...(Number.isSafeInteger(at) && at >= 0 ? { at } : {}),
    ...(turn === '' ? {} : { turn }),
    ...(params.has('failed') ? { failed: true } : {}),
  };
}

export function writeRoute({ workspaceId, agent, instanceKey, at, turn, failed }: Route): string {
  const parts = [workspaceId, agent, instanceKey].filter((part) => part !== undefined).map(encodePart);
  const params = new URLSearchParams();
  if (at !== undefined) params.set('at', String(at));
  if (turn !== undefined) params.set('turn', turn);
  if (failed === true) params.set('failed', '1');
  const query = params.size === 0 ? '' : `?${params}`;
  return `#/${parts.join('/')}${query}`;
}

/** Encodes a part of the address. A key may contain half of a surrogate pair, which an address cannot contain. */
function encodePart(part: string): string {
  return encodeURIComponent(part.toWellFormed());
}

/** Decodes a part of the address. Invalid parts are kept, because a link may have been cut or typed by hand. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

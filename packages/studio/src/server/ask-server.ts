/**
 * The only module that sends requests to the server. It returns the answers of the contract, or throws an error with a
 * message for people.
 */
import type { Refusal } from '@goondan/cli/studio';

export class ServerError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly suggestion?: string,
  ) {
    super(message);
  }

  /** True when a retry may soon succeed. */
  get isPassing(): boolean {
    return this.code === 'E_STUDIO_BUSY' || this.code === GONE;
  }
}

const GONE = 'E_STUDIO_GONE';

/** Returns an address below `/api/workspaces/ID`. */
export function addressOf(
  workspaceId: string,
  what = '',
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const path = `/api/workspaces/${encodeURIComponent(workspaceId)}${what === '' ? '' : `/${what}`}`;
  return params.size === 0 ? path : `${path}?${params}`;
}

export function getFrom<Answer>(address: string, signal?: AbortSignal): Promise<Answer> {
  return ask(address, signal === undefined ? {} : { signal });
}

export function postTo<Answer>(address: string, body: object): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json' };
  return ask(address, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function ask<Answer>(address: string, init: RequestInit): Promise<Answer> {
  const response = await reach(address, init);
  const answer: unknown = await response.json().catch(() => undefined);
  // The cast is safe: the server and the page have the same version, and share one contract.
  if (response.ok) return answer as Answer;
  const { error } = (answer ?? {}) as Partial<Refusal>;
  throw new ServerError(
    error?.code ?? `HTTP ${response.status}`,
    error?.message ?? `The server answered with status ${response.status}.`,
    error?.suggestion,
  );
}

async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ServerError(GONE, 'Studio does not answer.', 'Start `gdn studio` again, and open the link it prints.');
  }
}

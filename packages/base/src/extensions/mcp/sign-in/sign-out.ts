/** Ends a sign-in: `gdn mcp logout`. The tokens are revoked, if the authorization server offers that, and removed. */
import { loadSdk, type Sdk } from '../sdk.ts';
import { oauthFetch } from './oauth-fetch.ts';
import type { OauthTarget } from './server-sign-in.ts';
import { type SignIn, SignInFile } from './sign-in-file.ts';

export interface SignedOut {
  /** False if there was no sign-in. */
  readonly wasSignedIn: boolean;
  /** True if the authorization server has revoked the tokens. */
  readonly revoked: boolean;
  /** Why the tokens were not revoked. */
  readonly problem?: string;
}

/** Removes the sign-in, even if revoking fails. **Errors** — `E_MCP_TOKENS` if the file cannot be locked. */
export async function signOut(url: string, oauth: OauthTarget, signal: AbortSignal): Promise<SignedOut> {
  const file = new SignInFile(oauth.place);
  return file.lock(async () => {
    const known = readOrNothing(file);
    const problem = await endTokens(url, oauth, known, signal);
    const wasThere = file.remove();
    // A file without tokens has only the demand of the server, or a registered client.
    const wasSignedIn = known === undefined ? wasThere : known.tokens !== undefined;
    const revoked = wasSignedIn && problem === '';
    return { wasSignedIn, revoked, ...(problem === '' ? {} : { problem }) };
  }, signal);
}

/** Revokes the tokens of a file, if it has any. Returns the problem; an empty text if there is none. */
async function endTokens(
  url: string,
  oauth: OauthTarget,
  known: SignIn | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (known === undefined) return 'their file is damaged, or other users could read it';
  return known.tokens === undefined ? '' : revoke(await loadSdk(), url, oauth, known, signal);
}

/** Revokes the tokens. Returns the problem; an empty text if there is none. */
async function revoke(
  sdk: Sdk,
  url: string,
  { clientId, clientSecret }: OauthTarget,
  { tokens, client }: SignIn,
  signal: AbortSignal,
): Promise<string> {
  const { fetch } = oauthFetch(url, signal);
  try {
    const { authorizationServerMetadata: metadata } = await sdk.discoverOAuthServerInfo(url, { fetchFn: fetch });
    const endpoint: unknown =
      metadata !== undefined && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
    if (typeof endpoint !== 'string') return 'the authorization server does not offer it';
    if (metadata?.issuer !== tokens?.issuer) return 'the server has another authorization server now';
    const id = clientId ?? client?.client_id ?? '';
    const secret = clientId === undefined ? client?.client_secret : clientSecret;
    // Revoking the refresh token ends all access tokens, too, at most servers.
    for (const token of [tokens?.refresh_token, tokens?.access_token]) {
      if (token === undefined) continue;
      const body = new URLSearchParams({ token, client_id: id });
      const headers = secret === undefined ? {} : { authorization: `Basic ${btoa(`${id}:${secret}`)}` };
      const { ok, status } = await fetch(new URL(endpoint), { method: 'POST', body, headers });
      if (!ok) return `the authorization server answered with HTTP ${status}`;
    }
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns `undefined` if the file cannot be used. */
function readOrNothing(file: SignInFile): SignIn | undefined {
  try {
    return file.read();
  } catch {
    return undefined;
  }
}

/**
 * The sign-in of an agent at one server. It adds the access token to each request, gets another token when the server
 * rejects it, and says so when a person has to sign in. A person does that with `gdn mcp login`; the next request then uses
 * the new tokens.
 *
 * 1. One process at a time refreshes the tokens of a server. The others then use its result, so that a refresh token that
 *    can be used once is not lost.
 * 2. New tokens are on disk before they are used.
 */
import { fetchSameOrigin } from '../fetch-same-origin.ts';
import type { AuthProvider, FetchLike, Sdk } from '../sdk.ts';
import { McpFailure } from '../mcp-failure.ts';
import { hide, oauthFetch } from './oauth-fetch.ts';
import { OauthProvider } from './oauth-provider.ts';
import type { OauthSettings } from './oauth-settings.ts';
import { type Demand, type SignIn, SignInFile, type SignInPlace } from './sign-in-file.ts';

/** The sign-in of a server, with all variables resolved. */
export interface OauthTarget extends OauthSettings {
  readonly place: SignInPlace;
}

export interface ServerSignInDeps {
  readonly sdk: Sdk;
  readonly url: string;
  readonly oauth: OauthTarget;
  /** Called with secrets that must not be shown, before they are used. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

export class ServerSignIn {
  readonly #file: SignInFile;
  /** The token of each request that was answered with an error. */
  readonly #sent = new WeakMap<Response, string>();
  readonly #secrets = new Set<string>();

  constructor(private readonly deps: ServerSignInDeps) {
    this.#file = new SignInFile(deps.oauth.place);
    const { clientSecret, privateKey } = deps.oauth;
    this.#keepSecret([clientSecret, privateKey]);
  }

  readonly authProvider: AuthProvider = {
    token: async () => this.#read().tokens?.access_token,
    onUnauthorized: async ({ response }) => {
      const { scope, resourceMetadataUrl } = this.deps.sdk.extractWWWAuthenticateParams(response);
      const demand = toDemand(scope, resourceMetadataUrl);
      const used = this.#sent.get(response);
      await this.#file.lock(async () => {
        const known = this.#read();
        // Another process, or a person, was faster.
        if (known.tokens !== undefined && known.tokens.access_token !== used) return;
        await this.#renew(known, demand);
      });
    },
  };

  /** Sends a request of the protocol, and remembers its token. */
  readonly fetch: FetchLike = async (url, init) => {
    const response = await fetchSameOrigin(url, init);
    const token = new Headers(init?.headers).get('authorization')?.replace(/^Bearer /, '');
    if (!response.ok && token !== undefined) this.#sent.set(response, token);
    return response;
  };

  /**
   * Meets the demand of a server for more scopes. Resolves if the request can be repeated. **Errors** — a `McpFailure`: a
   * person must sign in.
   */
  async stepUp(scope: string | undefined, resourceMetadataUrl: URL | undefined): Promise<void> {
    await this.#file.lock(async () => {
      const known = this.#read();
      const { computeScopeUnion, isStrictScopeSuperset } = this.deps.sdk;
      const granted = known.tokens?.scope;
      // Somebody was faster, or the server is wrong: repeating the request once shows which.
      if (!isStrictScopeSuperset(scope, granted)) return;
      await this.#renew(known, toDemand(computeScopeUnion(granted, scope), resourceMetadataUrl), true);
    });
  }

  /** Replaces the tokens in a text of the server. */
  hide(text: string): string {
    return hide(text, [...this.#secrets]);
  }

  /** Returns true if the server knows a secret of this sign-in, so that its answers may repeat it. */
  get hasSecrets(): boolean {
    return this.#secrets.size > 0;
  }

  #read(): SignIn {
    const known = this.#file.read();
    this.#keepSecret([known.tokens?.access_token, known.tokens?.refresh_token, known.client?.client_secret]);
    return known;
  }

  /** Gets new tokens without a person. The caller holds the lock. **Errors** — a `McpFailure` if that is not possible. */
  async #renew(known: SignIn, demand: Demand, needsMoreScopes = false): Promise<void> {
    const { sdk, url, oauth } = this.deps;
    const isAlone = oauth.grant === 'client_credentials';
    // A refresh cannot widen the scopes.
    const canRefresh = known.tokens?.refresh_token !== undefined && !needsMoreScopes;
    if (!isAlone && !canRefresh) throw this.#demand(known, demand, needsMoreScopes);
    const requests = oauthFetch(url);
    const need = (): never => {
      const problem = requests.problem();
      // The sign-in may still be valid: only the authorization server does not answer.
      if (problem !== undefined) throw new McpFailure('refused', `its sign-in cannot be renewed: ${problem}`);
      throw new SignInNeeded();
    };
    let now: SignIn = known;
    const save = (changed: Pick<SignIn, 'client' | 'tokens'>) => {
      now = { ...changed, ...(changed.tokens === undefined ? {} : { receivedAt: Date.now() }) };
      this.#keepSecret([changed.tokens?.access_token, changed.tokens?.refresh_token]);
      this.#file.write(now);
    };
    const provider = new OauthProvider({ sdk, settings: oauth, known, save, open: need });
    const { computeScopeUnion } = sdk;
    const scope = computeScopeUnion(demand.scope, oauth.scopes?.join(' '));
    const { resourceMetadataUrl } = demand;
    try {
      await sdk.auth(provider, {
        serverUrl: url,
        fetchFn: requests.fetch,
        ...(scope === undefined ? {} : { scope }),
        ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
      });
    } catch (error) {
      if (error instanceof McpFailure) throw error;
      const problem = requests.problem();
      if (problem !== undefined) throw new McpFailure('refused', `its sign-in cannot be renewed: ${problem}`);
      if (isAlone) throw new McpFailure('refused', `the sign-in failed: ${this.hide(messageOf(error))}.`, error);
      throw this.#demand(now, demand, needsMoreScopes, true);
    }
  }

  /** Records the demand for the person who signs in, and returns the failure. */
  #demand(
    known: SignIn,
    demand: Demand,
    needsMoreScopes: boolean,
    wasSignedIn = known.tokens !== undefined,
  ): McpFailure {
    if (!Bun.deepEquals(known.demand, demand)) this.#file.write({ ...known, demand });
    if (needsMoreScopes) return new McpFailure('sign-in', `it demands more scopes: ${demand.scope ?? ''}.`);
    return new McpFailure('sign-in', wasSignedIn ? 'the sign-in has expired.' : 'nobody has signed in.');
  }

  #keepSecret(secrets: readonly (string | undefined)[]): void {
    const added = secrets.filter((secret) => secret !== undefined && !this.#secrets.has(secret)) as string[];
    if (added.length === 0) return;
    for (const secret of added) this.#secrets.add(secret);
    // Only the newest secrets are kept. Older ones are no longer valid.
    for (const oldest of [...this.#secrets].slice(0, -MOST_SECRETS)) this.#secrets.delete(oldest);
    this.deps.onSecrets(added);
  }
}

/** Enough for the credentials of a client, and the tokens before and after some refreshes. */
const MOST_SECRETS = 32;

/** Ends a sign-in of the SDK at the point where a person is needed. */
class SignInNeeded extends Error {}

function toDemand(scope: string | undefined, resourceMetadataUrl: URL | undefined): Demand {
  return {
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: resourceMetadataUrl.href }),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

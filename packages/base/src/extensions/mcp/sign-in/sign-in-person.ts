/** Signs a person in at a server: `gdn mcp login`. */
import { randomBytes } from 'node:crypto';
import { GoondanError } from '@goondan/types';
import { cleanText } from '../../../text/clean-text.ts';
import { fetchSameOrigin } from '../fetch-same-origin.ts';
import { loadSdk, type Sdk } from '../sdk.ts';
import type { HttpTarget } from '../server-target.ts';
import { mayLeadTo } from './clear-text.ts';
import { hide, oauthFetch } from './oauth-fetch.ts';
import { OauthProvider } from './oauth-provider.ts';
import { listenForRedirect, type RedirectListener } from './redirect-listener.ts';
import { describeSignIn, type SignInStatus } from './sign-in-status.ts';
import type { OauthTarget } from './server-sign-in.ts';
import { type Demand, type SignIn, SignInFile } from './sign-in-file.ts';

export interface PersonDeps {
  /** The name of the server, for errors. */
  readonly name: string;
  readonly target: HttpTarget & { readonly oauth: OauthTarget };
  /** Scopes to ask for, besides those that the server demands. */
  readonly scopes?: readonly string[];
  /** Shows the address that the person has to open. */
  readonly show: (url: string) => void;
  /** Addresses that the person pastes, for a browser on another machine. */
  readonly pasted: AsyncIterable<string>;
  readonly onWrongPaste: () => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Signs in, and stores the tokens. **Errors** — `E_MCP_SIGN_IN`, `E_MCP_TOKENS`; the reason of the signal. */
export async function signInPerson(deps: PersonDeps): Promise<SignInStatus> {
  const { name, target, signal } = deps;
  const sdk = await loadSdk();
  const file = new SignInFile(target.oauth.place);
  // A sign-in that cannot be used is replaced.
  const known = readOrNothing(file);
  try {
    const demand = await findDemand(sdk, deps, known);
    const signedIn = await obtain(sdk, deps, known, demand);
    await file.lock(async () => file.write(signedIn), signal);
    return describeSignIn(signedIn);
  } catch (error) {
    signal.throwIfAborted();
    if (GoondanError.is(error)) throw error;
    const { clientSecret = '', privateKey = '' } = target.oauth;
    const message = hide(error instanceof Error ? error.message : String(error), [clientSecret, privateKey]);
    const isOther = sdk.AuthorizationServerMismatchError.isInstance(error);
    throw failed(name, message, error, isOther ? `${anotherServer} \`gdn mcp logout ${name}\`.` : again);
  }
}

const again = 'Correct the cause, and run the command again.';
const anotherServer = 'If the server really has another authorization server now, first run';

async function obtain(sdk: Sdk, deps: PersonDeps, known: SignIn, demand: Demand): Promise<SignIn> {
  const { target, scopes = [], show, signal } = deps;
  const { oauth, url } = target;
  const state = randomBytes(24).toString('base64url');
  const isAlone = oauth.grant === 'client_credentials';
  const listener = isAlone ? undefined : openListener(state, oauth, known);
  try {
    let signedIn: SignIn = {};
    const requests = oauthFetch(url, signal);
    const provider = new OauthProvider({
      sdk,
      settings: oauth,
      known: keepsClient(known, listener) ? known : withoutClient(known),
      save: (changed) => {
        signedIn = { ...changed, receivedAt: Date.now() };
      },
      open(address) {
        checkAddress(url, address);
        show(address.href);
      },
      ...(listener === undefined ? {} : { person: { redirectUrl: listener.redirectUrl, state } }),
    });
    const scope = sdk.computeScopeUnion(
      demand.scope,
      known.tokens?.scope,
      [...(oauth.scopes ?? []), ...scopes].join(' '),
    );
    const { resourceMetadataUrl } = demand;
    const answer = await sdk.auth(provider, {
      serverUrl: url,
      fetchFn: requests.fetch,
      forceReauthorization: true,
      ...(scope === undefined ? {} : { scope }),
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
    });
    if (answer === 'AUTHORIZED' || listener === undefined) return signedIn;
    const arrived = await waitForRedirect(listener, deps);
    // The transport checks the issuer and the error of the redirect, and exchanges its code for tokens.
    const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
      authProvider: provider,
      fetch: requests.fetch,
    });
    await transport.finishAuth(arrived);
    return signedIn;
  } finally {
    listener?.close();
  }
}

/** Throws if a person may not open the address of a sign-in. `url`: the address of the server. */
export function checkAddress(url: string, address: URL): void {
  // A browser is opened with it, and other schemes could start other programs.
  if (mayLeadTo(url, address)) return;
  const { protocol, host } = address;
  throw new Error(`the address of the sign-in begins with ${protocol}//${host}, and not with https:`);
}

/** Asks the server once without a token, because its answer says what to sign in for. */
async function findDemand(sdk: Sdk, { name, target, signal }: PersonDeps, known: SignIn): Promise<Demand> {
  let found: Demand | undefined;
  const transport = new sdk.StreamableHTTPClientTransport(new URL(target.url), {
    requestInit: { headers: { ...target.headers } },
    fetch: fetchSameOrigin,
    authProvider: {
      token: async () => undefined,
      onUnauthorized: async ({ response }) => {
        const { scope, resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(response);
        found = {
          ...(scope === undefined ? {} : { scope }),
          ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: resourceMetadataUrl.href }),
        };
        throw new Error('The server demands a sign-in.');
      },
    },
  });
  const client = new sdk.Client(
    { name: 'goondan', version: '1' },
    { versionNegotiation: { mode: target.protocol }, capabilities: {} },
  );
  const options = { timeout: FIRST_ANSWER_MS, signal };
  try {
    await client.connect(transport, options);
    await client.listTools({}, options);
  } catch (error) {
    signal.throwIfAborted();
    if (found === undefined) throw failed(name, error instanceof Error ? error.message : String(error), error);
  } finally {
    await client.close().catch(() => undefined);
  }
  const { demand } = known;
  const scope = sdk.computeScopeUnion(found?.scope, demand?.scope);
  if (found === undefined && demand === undefined && !(await describesSignIn(sdk, target.url, signal))) {
    throw failed(name, 'the server does not demand a sign-in.');
  }
  return { ...demand, ...found, ...(scope === undefined ? {} : { scope }) };
}

const FIRST_ANSWER_MS = 15_000;

async function describesSignIn(sdk: Sdk, url: string, signal: AbortSignal): Promise<boolean> {
  try {
    await sdk.discoverOAuthProtectedResourceMetadata(url, {}, oauthFetch(url, signal).fetch);
    return true;
  } catch {
    return false;
  }
}

/** Listens at the declared port, or at the port that the client was registered with, or else at a free port. */
function openListener(state: string, { callbackPort }: OauthTarget, known: SignIn): RedirectListener {
  if (callbackPort !== undefined) return listenForRedirect(state, callbackPort);
  const registered = Number(URL.parse(redirectOf(known))?.port ?? 0);
  try {
    return listenForRedirect(state, registered);
  } catch {
    return listenForRedirect(state);
  }
}

/** A registered client can be used again only with the redirect that it was registered with. */
function keepsClient(known: SignIn, listener: RedirectListener | undefined): boolean {
  const redirect = redirectOf(known);
  return redirect === '' || redirect === listener?.redirectUrl;
}

function withoutClient({ client: _, ...rest }: SignIn): SignIn {
  return rest;
}

function redirectOf({ client }: SignIn): string {
  const uris: unknown = client !== undefined && 'redirect_uris' in client ? client.redirect_uris : undefined;
  const first: unknown = Array.isArray(uris) ? uris[0] : undefined;
  return typeof first === 'string' ? first : '';
}

async function waitForRedirect(
  listener: RedirectListener,
  { name, pasted, onWrongPaste, timeoutMs, signal }: PersonDeps,
): Promise<URLSearchParams> {
  signal.throwIfAborted();
  const over = Promise.withResolvers<never>();
  const stop = () => over.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const late = setTimeout(
    () => over.reject(failed(name, `nobody signed in within ${timeoutMs / 60_000} minutes.`)),
    timeoutMs,
  );
  const read = async () => {
    for await (const address of pasted) {
      if (listener.take(address)) return;
      onWrongPaste();
    }
  };
  read().catch(() => undefined);
  try {
    return await Promise.race([listener.arrived, over.promise]);
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
  }
}

function readOrNothing(file: SignInFile): SignIn {
  try {
    return file.read();
  } catch {
    return {};
  }
}

/** The maximum length of a problem, which may contain the text of a server. */
const LONGEST_PROBLEM = 1_000;

function failed(name: string, problem: string, cause?: unknown, suggestion = again): GoondanError {
  const said = cleanText(problem, LONGEST_PROBLEM);
  const text = /[.!?]$/.test(said) ? said : `${said}.`;
  return new GoondanError('E_MCP_SIGN_IN', `Signing in to MCP server "${name}" failed: ${text}`, {
    suggestion,
    ...(cause === undefined ? {} : { cause }),
  });
}

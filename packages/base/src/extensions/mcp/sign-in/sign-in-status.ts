/** The state of a sign-in, for people. It never has a token. */
import type { SignIn } from './sign-in-file.ts';

export interface SignInStatus {
  /** False if nobody has signed in, or if the access has ended and cannot be renewed. */
  readonly signedIn: boolean;
  /** The issuer of the authorization server that gave the tokens. */
  readonly issuer?: string;
  readonly scopes: readonly string[];
  /** The time when the access token expires; absent if the server did not say. */
  readonly expiresAt?: string;
  /** True if an expired access token is replaced without a person. */
  readonly renewable: boolean;
  /** The scopes of a demand that nobody has met. */
  readonly demanded?: readonly string[];
}

export function describeSignIn({ tokens, receivedAt, demand }: SignIn, now = Date.now()): SignInStatus {
  const expiry =
    tokens?.expires_in === undefined || receivedAt === undefined ? undefined : receivedAt + tokens.expires_in * 1_000;
  const renewable = tokens?.refresh_token !== undefined;
  const hasEnded = expiry !== undefined && expiry <= now && !renewable;
  return {
    signedIn: tokens !== undefined && !hasEnded,
    ...(tokens?.issuer === undefined ? {} : { issuer: tokens.issuer }),
    scopes: toList(tokens?.scope),
    ...(expiry === undefined ? {} : { expiresAt: new Date(expiry).toISOString() }),
    renewable,
    ...(demand === undefined ? {} : { demanded: toList(demand.scope) }),
  };
}

function toList(scope = ''): readonly string[] {
  return scope.split(/\s+/).filter((each) => each !== '');
}

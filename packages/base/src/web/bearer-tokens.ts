/**
 * Bearer tokens: the secrets `token` and `token-<client>` of a Connection. With one token per client, clients can be
 * told apart, and each token can be replaced on its own.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { checkExposure, type ListenConfig } from './listen-config.ts';

const SHORTEST = 16;

/**
 * Returns a function that finds the client of a request by its token. The client of the secret `token` is `default`. If
 * the connection has no tokens, the function returns `undefined`. For a missing or wrong token, it throws a `Refusal`
 * with 401. `bearerTokens` itself throws `E_CONNECTOR_CONFIG` when the server would be open to everybody.
 */
export function bearerTokens(
  config: ListenConfig,
  secrets: Readonly<Record<string, string>>,
): (request: Request) => string | undefined {
  const tokens = Object.entries(secrets).map(([name, token]) => ({
    client: clientOf(name, token),
    hash: hashOf(token),
  }));
  checkExposure(config, tokens.length, 'token');
  if (tokens.length === 0) return () => undefined;
  return (request) => {
    const [, given] = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    if (given === undefined) throw unauthorized('The request has no bearer token.');
    const hash = hashOf(given);
    // Compares all tokens, so that the time does not depend on which one matches.
    const [found] = tokens.filter((token) => timingSafeEqual(token.hash, hash));
    if (found === undefined) throw unauthorized('The bearer token is wrong.');
    return found.client;
  };
}

/** Lists the names of the clients. */
export function clientsOf(secrets: Readonly<Record<string, string>>): string[] {
  return Object.keys(secrets).map(nameIn);
}

/** Returns the name of the client in that of a secret; empty if it is no name of a token. */
function nameIn(secret: string): string {
  const [, client = 'default'] = /^token(?:-(.+))?$/.exec(secret) ?? [undefined, ''];
  return client;
}

function clientOf(name: string, token: string): string {
  const client = nameIn(name);
  if (client === '') {
    throw new GoondanError('E_CONNECTOR_CONFIG', `Unknown secret "${name}": use "token" or "token-<client>".`);
  }
  if (token.length < SHORTEST || !/^\S+$/.test(token)) {
    throw new GoondanError(
      'E_CONNECTOR_CONFIG',
      `The secret "${name}" must have at least ${SHORTEST} characters, and no spaces.`,
      {
        suggestion: 'Generate one with `openssl rand -hex 32`.',
      },
    );
  }
  return client;
}

/** Hashes a token, so that all compared values have the same length. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function unauthorized(message: string): Refusal {
  return new Refusal(401, 'E_HTTP_AUTH', message, { 'WWW-Authenticate': 'Bearer' });
}

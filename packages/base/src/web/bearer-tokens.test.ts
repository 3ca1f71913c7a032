import { describe, expect, test } from 'bun:test';
import { bearerTokens } from './bearer-tokens.ts';

const token = 'a-token-of-a-door-1';
const config = { port: 0 };
const asked = (authorization?: string) =>
  new Request('http://localhost/', { headers: authorization === undefined ? {} : { authorization } });
const failure = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe('a bearer token', () => {
  test('gives access, and names its client', () => {
    const check = bearerTokens(config, { token, 'token-ci': 'another-token-of-it' });
    expect(check(asked(`Bearer ${token}`))).toBe('default');
    expect(check(asked('bearer  another-token-of-it '))).toBe('ci');
  });

  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer wrong-wrong-wrong-wrong',
    `Bearer ${token}x`,
    `Bearer ${token.slice(0, -1)}`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer ${token} ${token}`,
    `Bearer ${token}, Bearer ${token}`,
    `Basic ${token}`,
    `Basic ${btoa(`user:${token}`)}`,
    token,
  ])('gives none when it is wrong: %p', (authorization) => {
    const check = bearerTokens(config, { token });
    expect(failure(() => check(asked(authorization)))).toMatchObject({ status: 401, code: 'E_HTTP_AUTH' });
  });
});

describe('a connector refuses to start', () => {
  test.each<[problem: string, more: object, secrets: Record<string, string>]>([
    ['The secret "token" is missing.', {}, {}],
    ['The secret "token" is missing.', { insecure: false }, {}],
    ['`insecure: true` and the secret "token" exclude each other.', { insecure: true }, { token }],
    ['needs a host that only this machine can reach, not 0.0.0.0', { insecure: true, host: '0.0.0.0' }, {}],
    ['needs a host that only this machine can reach, not ::', { insecure: true, host: '::' }, {}],
    ['needs a host that only this machine can reach, not example.org', { insecure: true, host: 'example.org' }, {}],
    [
      'needs a host that only this machine can reach, not 127.0.0.1.nip.io',
      { insecure: true, host: '127.0.0.1.nip.io' },
      {},
    ],
    ['must have at least 16 characters', {}, { token: 'short' }],
    ['must have at least 16 characters', {}, { token: '' }],
    ['and no spaces', {}, { token: 'a token with spaces' }],
    ['Unknown secret "signing"', {}, { signing: token }],
    ['Unknown secret "token-"', {}, { 'token-': token }],
  ])('%s', (problem, more, secrets) => {
    expect(failure(() => bearerTokens({ ...config, ...more }, secrets))).toMatchObject({
      code: 'E_CONNECTOR_CONFIG',
      message: expect.stringContaining(problem),
    });
  });

  test('but not on this machine alone, when configured without one', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) {
      expect(bearerTokens({ ...config, insecure: true, host }, {})(asked())).toBeUndefined();
    }
  });
});

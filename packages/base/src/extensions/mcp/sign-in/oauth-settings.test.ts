import { expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import { checkOauth } from './oauth-settings.ts';

const check = (value: JsonValue) => checkOauth(value, (problem) => new Error(problem));

test('N-01 a secret in the file is refused; a variable is not', () => {
  const oauth = { clientId: 'a', clientSecret: '${SECRET}' };
  expect(check(oauth)).toEqual(oauth);
  expect(() => check({ clientId: 'a', clientSecret: 'hunter22' })).toThrow('.oauth.clientSecret must be a variable');
  expect(() => check({ clientId: 'a', clientSecret: '${SECRET:-hunter22}' })).toThrow('must be a variable');
  expect(() => check({ clientId: 'a', privateKey: 'x${KEY}' })).toThrow('.oauth.privateKey must be a variable');
});

test.each([
  [true, '.oauth must be an object, or false'],
  [{ clientID: 'a' }, '.oauth.clientID is unknown; did you mean clientId?'],
  [{ client_secret: '${A}' }, '.oauth.client_secret is unknown; did you mean clientSecret?'],
  [{ clientId: '' }, '.oauth.clientId must be a text'],
  [{ scopes: 'read' }, '.oauth.scopes must be a list of scopes'],
  [{ scopes: ['read write'] }, '.oauth.scopes must be a list of scopes'],
  [{ callbackPort: '8080' }, '.oauth.callbackPort must be a port'],
  [{ callbackPort: 70_000 }, '.oauth.callbackPort must be a port'],
  [{ grant: 'password' }, '.oauth.grant must be'],
  [{ grant: 'client_credentials', clientId: 'a' }, '.oauth.grant "client_credentials" needs'],
  [{ clientSecret: '${SECRET}' }, '.oauth.clientId is missing'],
])('bad input %j', (value, problem) => {
  expect(() => check(value)).toThrow(problem);
});

test('false is no sign-in, and fields of other clients are ignored', () => {
  expect(check(false)).toBe(false);
  expect(check({ enabled: true, callbackPort: 8_080 })).toEqual({ callbackPort: 8_080 });
});

import { expect, test } from 'bun:test';
import { OauthProvider, type ProviderDeps } from './oauth-provider.ts';

const tokens = { access_token: 'an access token', token_type: 'Bearer', issuer: 'https://first.example' };

function open(settings: ProviderDeps['settings'], known: ProviderDeps['known'] = {}) {
  const saved: object[] = [];
  const deps = { settings, known, save: (each: object) => void saved.push(each), open: () => undefined };
  return { saved, provider: new OauthProvider({ ...deps, sdk: { createPrivateKeyJwtAuth: () => () => undefined } }) };
}

test('N-01 a declared client is bound to the declared issuer, or else to that of the first sign-in', () => {
  const declared = { clientId: 'ours', clientSecret: 'a client secret' };
  const issuerOf = (issuer: object, known: object) =>
    open({ ...declared, ...issuer }, known).provider.clientInformation()?.issuer;
  expect(issuerOf({ issuer: 'https://declared.example' }, { tokens })).toBe('https://declared.example');
  expect(issuerOf({}, { tokens })).toBe('https://first.example');
  expect(issuerOf({}, {})).toBeUndefined();
});

test('a registered client asks for refresh tokens, so that a person signs in once', () => {
  expect(open({}).provider.clientMetadata.grant_types).toEqual(['authorization_code', 'refresh_token']);
});

test('N-01 the secret of a declared client is never stored, and the client survives rejected credentials', () => {
  const { provider, saved } = open({ clientId: 'ours', clientSecret: 'a client secret' }, { tokens });
  provider.saveTokens({ ...tokens, access_token: 'another one' });
  provider.invalidateCredentials('all');
  expect(saved).toEqual([{ tokens: { ...tokens, access_token: 'another one' } }, {}]);
  expect(provider.clientInformation()).toMatchObject({ client_id: 'ours', client_secret: 'a client secret' });
});

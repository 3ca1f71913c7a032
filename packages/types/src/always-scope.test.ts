import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { alwaysScopesOf, hostOf } from './always-scope.ts';
import type { JsonObject } from './json.ts';

const uri: JsonObject = { type: 'object', properties: { page: { type: 'string', format: 'uri' }, text: {} } };

describe('the host of a call', () => {
  test.each<[JsonObject, string]>([
    [{ url: 'https://example.com' }, 'https://example.com'],
    [{ url: 'https://example.com/a?b=https://other.com#c' }, 'https://example.com'],
    [{ url: 'http://127.0.0.1:8080/가?q=나' }, 'http://127.0.0.1:8080'],
    [{ url: 'https://example.com/@other.com', method: 'POST', headers: { accept: '*/*' } }, 'https://example.com'],
    [{ page: 'https://a.b.example.com/', text: 'See https://other.com/' }, 'https://a.b.example.com'],
  ])('of %j is %s', (args, host) => {
    expect(hostOf({ args, schema: uri })).toBe(host);
  });

  test.each<[string, JsonObject]>([
    ['no URL', { url: 'example.com' }],
    ['a user', { url: 'https://example.com@evil.com/' }],
    ['a backslash', { url: 'https://example.com\\@evil.com/' }],
    ['a backslash after the host', { url: 'https://example.com/\\@evil.com/' }],
    ['a fragment that some programs read as a user', { url: 'https://example.com#@evil.com/' }],
    ['a line break', { url: 'https://example.com/\n' }],
    ['an invisible character', { url: 'https://example.com/\u200b' }],
    ['the usual port', { url: 'https://example.com:443/' }],
    ['a letter that becomes another one', { url: 'https://example.com\u212a/' }],
    ['an address as one number', { url: 'http://2130706433/' }],
    ['a masked secret in the host', { url: 'https://***.example.com/' }],
    ['two URLs', { url: 'https://example.com/', page: 'https://example.com/' }],
    ['a second URL elsewhere', { url: 'https://example.com/', headers: { callback: ['//evil.com'] } }],
    ['a second URL as a key', { url: 'https://example.com/', text: { 'https://evil.com/': true } }],
    ['a second URL that only careless programs take', { url: 'https://example.com/', text: 'http:evil.com' }],
    ['a second URL with a line break in it', { url: 'https://example.com/', text: 'ht\ntps://evil.com/' }],
    ['a second URL without a scheme, with a tab', { url: 'https://example.com/', text: '/\t/evil.com/' }],
    ['a second URL without slashes', { url: 'https://example.com/', text: 'ws:evil.com' }],
    ['a second URL after a blank', { url: 'https://example.com/', text: ' https://evil.com/' }],
    ['a second URL in capital letters', { url: 'https://example.com/', text: 'HTTPS:evil.com' }],
    ['an argument that is not declared as a URL', { text: 'https://example.com/' }],
  ])('is unknown: %s', (_, args) => {
    expect(hostOf({ args, schema: uri })).toBeUndefined();
  });

  test('is the one to which a request goes, whatever the text', () => {
    const unit = fc.constantFrom(...Array.from('ab.:/@\\#?%*\t 1K'), 'https://', 'http:', 'a.com', '[::1]', ':80');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (rest) => {
        const url = `https://${rest}`;
        const host = hostOf({ args: { url } });
        if (host === undefined) return;
        expect(url.startsWith(host)).toBe(true);
        expect(new URL(url)).toMatchObject({ origin: host, username: '', password: '' });
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a call can be allowed for its arguments, for its host if it has one, and for its tool; nothing else can', () => {
  const args = { url: 'https://example.com/' };
  expect(alwaysScopesOf({ kind: 'call', args })).toEqual(['arguments', 'host', 'tool']);
  expect(alwaysScopesOf({ kind: 'call', args: {} })).toEqual(['arguments', 'tool']);
  expect(alwaysScopesOf({ kind: 'page', args })).toEqual([]);
});

import { describe, expect, test } from 'bun:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { anyText } from '../../../../test/any-text.ts';
import { maskJson, maskSecrets } from './mask-secrets.ts';

const awkward = 'p&ss "word"\\ + é';

describe('the mask', () => {
  test('X-15 removes a secret from a text, at every occurrence', () => {
    const mask = maskSecrets(['sk-live-12345']);
    expect(mask('key sk-live-12345, again sk-live-12345.')).toBe('key ***, again ***.');
  });

  test.each([
    ['as it is', awkward],
    ['JSON-escaped', JSON.stringify({ key: awkward })],
    ['JSON-escaped with nothing around it', JSON.stringify(awkward).slice(1, -1)],
    ['URL-encoded', `https://example.com/?key=${encodeURIComponent(awkward)}`],
    ['URL-encoded as forms do it', new URLSearchParams({ key: awkward }).toString()],
    ['printed inside an object', inspect({ key: awkward })],
    ['JSON-escaped inside JSON', JSON.stringify({ body: JSON.stringify({ key: awkward }) })],
    ['JSON-escaped inside an object', inspect({ body: JSON.stringify({ key: awkward }) })],
  ])('X-15 removes a secret that is there %s', (_title, text) => {
    const masked = maskSecrets([awkward])(text);
    expect(masked).toContain('***');
    expect(masked).not.toContain('ss');
    expect(masked).not.toContain('word');
  });

  test('X-15 removes every line of a secret of several lines, however it is printed', () => {
    const lines = ['-----BEGIN KEY-----', 'MIIE'.repeat(16), 'hkiG'.repeat(16), '-----END KEY-----'];
    const key = lines.join('\n');
    const mask = maskSecrets([key]);
    for (const text of [key, lines.join('\r\n'), JSON.stringify({ key }), inspect({ key })]) {
      expect(mask(text)).not.toMatch(/MIIE|hkiG/);
    }
  });

  test('X-15 a secret that contains another one is removed as a whole', () => {
    const mask = maskSecrets(['password', 'password-of-mina']);
    expect(mask('password-of-mina')).toBe('***');
    expect(mask('password of mina')).toBe('*** of mina');
  });

  test('X-15 nothing is left of overlapping secrets', () => {
    const mask = maskSecrets(['password', 'word-of-mina', 'abcabcabc']);
    expect(mask('my password-of-mina!')).toBe('my ***!');
    expect(mask('-abcabcabcabc-')).toBe('-***-');
    expect(mask('passwordpassword')).toBe('******');
  });

  test('X-15 values of fewer than 8 characters are not secrets', () => {
    expect(maskSecrets(['1234567', ''])('1234567 and nothing')).toBe('1234567 and nothing');
    expect(maskSecrets(['12345678'])('12345678')).toBe('***');
  });

  test('X-15 a secret may contain anything, even half a character', () => {
    const mask = maskSecrets(['$& $1 .* [a-z]', 'half \ud83d of it']);
    expect(mask('so: $& $1 .* [a-z]')).toBe('so: ***');
    expect(mask('so: half \ud83d of it')).toBe('so: ***');
  });

  test('X-15 any secret is removed from any text, in every form', () => {
    fc.assert(
      fc.property(anyText({ minLength: 8 }), fc.string(), fc.string(), (secret, before, after) => {
        // Secrets with asterisks are left out, because a mask of asterisks cannot hide them.
        fc.pre(!secret.includes('*'));
        const mask = maskSecrets([secret]);
        for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) {
          expect(mask(`${before}${form}${after}`)).not.toContain(form);
        }
      }),
    );
  });

  test('X-15 without secrets a text stays unchanged', () => {
    expect(maskSecrets([])('anything')).toBe('anything');
  });
});

describe('the mask of a JSON value', () => {
  test('X-15 reaches texts and keys at every depth, and leaves the rest', () => {
    const mask = maskSecrets(['secret-1234']);
    const value = { list: ['a secret-1234', { 'secret-1234': 'x' }], count: 3, none: null, yes: true };
    expect(maskJson(value, mask)).toEqual({ list: ['a ***', { '***': 'x' }], count: 3, none: null, yes: true });
  });

  test('X-15 a value without secrets is returned by reference', () => {
    const value = { list: [{ text: 'nothing here' }], number: 1, none: null };
    expect(maskJson(value, maskSecrets(['sk-live-12345']))).toBe(value);
    const other = { list: [{ text: 'sk-live-12345' }], same: value };
    const masked = maskJson(other, maskSecrets(['sk-live-12345']));
    expect(masked).toEqual({ list: [{ text: '***' }], same: value });
    expect(other.list[0]?.text).toBe('sk-live-12345');
  });
});

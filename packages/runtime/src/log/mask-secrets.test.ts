import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { anyText } from '../../../../test/any-text.ts';
import type { JsonValue } from '@goondan/types';
import { growingMask, type Mask, maskBeginning, maskCode, maskJson, maskSecrets, maskTexts } from './mask-secrets.ts';
import { FormSearch } from './form-search.ts';
import { MaskedStream } from './masked-stream.ts';
import { formsOfSecrets, SHORTEST_SECRET } from './secret-forms.ts';
import { LONGEST_ESCAPED } from './unescaped-scan.ts';

const awkward = 'p&ss "word"\\ + é';

describe('the mask', () => {
  test('removes a secret from a text, at every occurrence', () => {
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
  ])('removes a secret that is there %s', (_title, text) => {
    const masked = maskSecrets([awkward])(text);
    expect(masked).toContain('***');
    expect(masked).not.toContain('ss');
    expect(masked).not.toContain('word');
  });

  test('removes every line of a secret of several lines, however it is printed', () => {
    const lines = ['-----BEGIN KEY-----', 'MIIE'.repeat(16), 'hkiG'.repeat(16), '-----END KEY-----'];
    const key = lines.join('\n');
    const mask = maskSecrets([key]);
    for (const text of [key, lines.join('\r\n'), JSON.stringify({ key }), inspect({ key })]) {
      expect(mask(text)).not.toMatch(/MIIE|hkiG/);
    }
    const fromWindows = maskSecrets([lines.join('\r\n')]);
    for (const text of [key, ...lines]) expect(fromWindows(text)).not.toMatch(/MIIE|hkiG/);
  });

  test('a secret that contains another one is removed as a whole', () => {
    const mask = maskSecrets(['password', 'password-of-mina']);
    expect(mask('password-of-mina')).toBe('***');
    expect(mask('password of mina')).toBe('*** of mina');
  });

  test('a secret is removed where a longer one around it breaks off', () => {
    const mask = maskSecrets(['password', 'my-password-of-mina']);
    expect(mask('my-password-of-mina')).toBe('***');
    expect(mask('my-password-of-nobody')).toBe('my-***-of-nobody');
  });

  test('a secret that ends with an incomplete escape is removed, also at the end of the text', () => {
    const mask = maskSecrets(['password-u12']);
    expect(mask('my password-\\u12')).toBe('my ***');
    expect(mask('my password-\\u12.')).toBe('my ***.');
  });

  test('nothing is left of overlapping secrets', () => {
    const mask = maskSecrets(['password', 'word-of-mina', 'abcabcabc']);
    expect(mask('my password-of-mina!')).toBe('my ***!');
    expect(mask('-abcabcabcabc-')).toBe('-***-');
    expect(mask('passwordpassword')).toBe('******');
  });

  test('values of fewer than 8 characters are not secrets', () => {
    expect(maskSecrets(['1234567', ''])('1234567 and nothing')).toBe('1234567 and nothing');
    expect(maskSecrets(['12345678'])('12345678')).toBe('***');
    expect(maskSecrets(['1234567', 'sk-live-12345', ''])('1234567 and sk-live-12345')).toBe('1234567 and ***');
  });

  test('a secret may contain anything, even half a character', () => {
    const mask = maskSecrets(['$& $1 .* [a-z]', 'half \ud83d of it']);
    expect(mask('so: $& $1 .* [a-z]')).toBe('so: ***');
    expect(mask('so: half \ud83d of it')).toBe('so: ***');
  });

  test('any secret is removed from any text, in every form', () => {
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

  test('without secrets a text stays unchanged', () => {
    expect(maskSecrets([])('anything')).toBe('anything');
  });
});

describe('the forms of a secret', () => {
  const secret = 'Zürich "café"\\ ﬁ+key/42?>';
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const unicode = (text: string, isUpper = false) => {
    const hex = text.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${isUpper ? hex.toUpperCase() : hex}`;
  };
  const escapeAll = (text: string, isUpper?: boolean) =>
    text.replaceAll(/[^]/g, (character) => unicode(character, isUpper));
  const base64 = (text: string, encoding: 'base64' | 'base64url' = 'base64') => Buffer.from(text).toString(encoding);
  const hex = (text: string) => Buffer.from(text).toString('hex');

  const masked: Record<string, string[]> = {
    unchanged: [secret, secret.normalize('NFC'), secret.normalize('NFD')],
    JSON: [inJson(secret), inJson(inJson(secret)), inJson(inJson(inJson(secret)))],
    '`\\uXXXX` escapes': [
      escapeAll(secret),
      escapeAll(secret, true),
      // As Python, Go and .NET write JSON.
      inJson(secret).replaceAll(/[^ -~]/g, (character) => unicode(character)),
      inJson(secret).replaceAll(/[<>&+"]/g, (character) => unicode(character, true)),
      inJson(escapeAll(secret)),
      inJson(inJson(escapeAll(secret))),
    ],
    'printed object': [inspect({ secret }).slice('{ secret: '.length + 1, -3)],
    'URL encoding': [encodeURIComponent(secret), new URLSearchParams([['', secret]]).toString().slice(1)],
    hexadecimal: [hex(secret), hex(secret).toUpperCase(), hex(secret.normalize('NFD'))],
    'base64, base64url': [base64(secret), base64(secret, 'base64url')],
  };
  const notMasked: Record<string, string[]> = {
    'parts of a secret': [secret.slice(0, 12), secret.split('').join(' '), `${secret.slice(0, 9)}\n${secret.slice(9)}`],
    'other letters': [
      secret.toUpperCase(),
      secret.normalize('NFKC'),
      secret.normalize('NFKD'),
      secret.split('').toReversed().join(''),
    ],
    'other escapes': [
      secret.replaceAll(/[a-z]/g, (letter) => `\\x${hex(letter)}`),
      secret.replaceAll('"', '&quot;'),
      encodeURIComponent(secret).replaceAll('key', '%6b%65%79'),
    ],
    'other encodings': [
      Buffer.from(secret, 'utf16le').toString('hex'),
      Buffer.from(secret, 'utf16le').toString('base64'),
      base64(secret).replaceAll(/.{8}/g, '$&\n'),
      hex(secret).replaceAll(/.{8}/g, '$&\n'),
      deflateSync(secret).toString('base64'),
      createHash('sha256').update(secret).digest('hex'),
    ],
    'encodings of encodings': [base64(base64(secret)), hex(base64(secret)), encodeURIComponent(inJson(secret))],
  };

  const cases = (forms: Record<string, string[]>) => Object.entries(forms);
  test.each(cases(masked))('this form is masked, also in pieces: %s', (_form, texts) => {
    const mask = maskSecrets([secret]);
    for (const text of texts) {
      expect(mask(`<${text}>`)).toMatch(/^<[\\]*\*\*\*(?:=*)>$/);
      const stream = new MaskedStream(mask);
      const pieces = `<${text}>`.split('').map((piece) => stream.push(piece));
      expect([...pieces, stream.end()].join('')).toBe(mask(`<${text}>`));
    }
  });

  test.each(cases(notMasked))('this form is not masked: %s', (_form, texts) => {
    for (const text of texts) expect(maskSecrets([secret])(text)).toBe(text);
  });

  test('base64 of a longer text hides all characters that depend on the secret alone', () => {
    for (const [before, after] of [
      ['user:', ''],
      ['user1:', ':x'],
      ['ab', '12'],
      ['', ' and more'],
    ] as const) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const [, head = '', tail = ''] =
          /^([^*]*)\*\*\*([^*]*?)=*$/.exec(maskSecrets([secret])(base64(before + secret + after, encoding))) ?? [];
        expect(head.length).toBe(Math.ceil((before.length * 8) / 6));
        expect(tail.length).toBeLessThanOrEqual(Math.ceil((after.length * 8) / 6) + (after === '' ? 0 : 1));
      }
    }
  });

  test('a short secret that ends in white space is masked in base64 and hexadecimal', () => {
    for (const short of ['1234567\n', '1234567 ', '\t12345 \n', '12345678\n']) {
      const mask = maskSecrets([short]);
      const texts = [hex(short), hex(short).toUpperCase(), base64(short), base64(short, 'base64url')];
      for (const text of texts) expect(mask(text)).toMatch(/^\*\*\*(?:0a|0A|g?K)?=*$/);
      expect(mask(base64(`user:${short}:x`))).toContain('***');
    }
  });

  test('is right about control characters that are written in two ways', () => {
    const mask = maskSecrets(['tabs\there\tand', 'line\nhere\nand']);
    for (const text of ['tabs\\there\\tand', 'tabs\\u0009here\\u0009and', 'line\\nhere\\nand']) {
      expect(mask(text)).toBe('***');
    }
    for (const text of ['tabs\\there\\u0009and', 'line\\u000ahere\\nand']) expect(mask(text)).toBe(text);
  });

  test('a secret of several lines is masked as a whole in base64 and hexadecimal, and line by line otherwise', () => {
    const lines = ['-----BEGIN KEY-----', 'MIIE'.repeat(16), 'hkiG'.repeat(16), '-----END KEY-----'];
    const key = `${lines.join('\n')}\n`;
    const mask = maskSecrets([key]);
    for (const text of [base64(key), base64(key.trim()), hex(key.trim()), base64(`${key}and more`)]) {
      expect(mask(text).length).toBeLessThan(20);
    }
    expect(mask(inJson(inJson(inJson(key))))).toBe('***');
    for (const line of lines) expect(mask(escapeAll(line))).toBe('***');
    expect(mask(base64(lines[1] ?? ''))).toBe(base64(lines[1] ?? ''));
  });

  test('the shortest secrets up to 16,384 characters are masked in every form, longer ones in the usual forms', () => {
    const long = `${'long secret "'.repeat(1_300)}end`;
    const mask = maskSecrets([long, secret]);
    for (const text of [base64(secret), escapeAll(secret)]) expect(mask(text)).toMatch(/^\*\*\*=*$/);
    for (const text of [long, inJson(long), inJson(inJson(long)), encodeURIComponent(long)])
      expect(mask(text)).toBe('***');
    for (const text of [base64(long), hex(long)]) expect(mask(text)).toBe(text);
  });

  test('an occurrence of more than 65,536 characters with its escapes is not masked, and not held back', () => {
    const long = 'a long secret without spaces '.repeat(400);
    const text = `<${inJson(escapeAll(long))}>`;
    const mask = maskSecrets([long, secret]);
    expect(mask(text)).toBe(text);
    expect(mask(`<${escapeAll(long.slice(0, 5_000))}${secret}>`)).toEndWith('***>');
    const stream = new MaskedStream(mask);
    expect(text.length - 1_000 - stream.push(text.slice(0, -1_000)).length).toBeLessThanOrEqual(LONGEST_ESCAPED);
  });
});

describe('the forms', () => {
  const tokens = Array.from({ length: 20 }, (_, index) => createHash('sha256').update(`${index}`).digest('hex'));
  // A key of 4096 bits has 49 lines of 64 characters and a shorter one.
  const lines = Array.from({ length: 49 }, (_, index) => createHash('sha384').update(`${index}`).digest('base64'));
  const key = ['-----BEGIN RSA PRIVATE KEY-----', ...lines, 'MIIEow==', '-----END RSA PRIVATE KEY-----', ''].join('\n');

  test('of an RSA key and 20 tokens are few, and their characters are in proportion', () => {
    const forms = formsOfSecrets([key, ...tokens]);
    expect(forms.length).toBeLessThanOrEqual(3 * lines.length + 20 + tokens.length * 16);
    const characters = key.length + tokens.join('').length;
    expect(new FormSearch(forms).size).toBeLessThanOrEqual(25 * characters);
    expect(Math.max(...forms.map(({ length }) => length))).toBeLessThanOrEqual(2 * key.length);
  });

  test('of a short secret are not found in ordinary text', () => {
    for (const short of ['password', 'aaaaaaaa', '12345678', '        ', 'élevés-1']) {
      const [, ...others] = formsOfSecrets([short]);
      for (const form of others) expect(form.length).toBeGreaterThanOrEqual(SHORTEST_SECRET);
    }
    expect(formsOfSecrets(['        '])).toEqual(['        ', '%20'.repeat(8), '++++++++']);
    expect(formsOfSecrets(['1234567'])).toEqual([]);
    const binary = formsOfSecrets(['password']).filter((form) => form !== 'password');
    expect(Math.min(...binary.map(({ length }) => length))).toBeGreaterThan(SHORTEST_SECRET);
  });
});

describe('the mask of a JSON value', () => {
  test('reaches texts and keys at every depth, and leaves the rest', () => {
    const mask = maskSecrets(['secret-1234']);
    const value = { list: ['a secret-1234', { 'secret-1234': 'x' }], count: 3, none: null, yes: true };
    expect(maskJson(value, mask)).toEqual({ list: ['a ***', { '***': 'x' }], count: 3, none: null, yes: true });
  });

  test('reaches numbers that show a secret, and leaves other numbers', () => {
    const mask = maskSecrets(['12345678', '0045678901', '87654321.50\n', '00000001', 'password']);
    const value = {
      pin: 12345678,
      list: [-12345678, 12345678.5, 45678901, 87654321.5],
      others: [1234567, 1, 87654321],
    };
    expect(maskJson(value, mask)).toEqual({
      pin: '***',
      list: ['-***', '***.5', '***', '***'],
      others: [1234567, 1, 87654321],
    });
    expect(mask(JSON.stringify(value))).not.toMatch(/12345678|45678901|87654321\.5/);
    expect(maskSecrets(['password', '00000001']).hasNumbers).toBe(false);
  });

  test('leaves the numbers of the runtime’s own records', () => {
    const mask = maskSecrets(['12345678']);
    expect(maskTexts({ startMs: 12345678, path: '12345678' }, mask)).toEqual({ startMs: 12345678, path: '***' });
  });

  test('a value without secrets is returned by reference', () => {
    const value = { list: [{ text: 'nothing here' }], number: 1, none: null };
    expect(maskJson(value, maskSecrets(['sk-live-12345']))).toBe(value);
    const other = { list: [{ text: 'sk-live-12345' }], same: value };
    const masked = maskJson(other, maskSecrets(['sk-live-12345']));
    expect(masked).toEqual({ list: [{ text: '***' }], same: value });
    expect(other.list[0]?.text).toBe('sk-live-12345');
  });

  test('looks at each text once, however deep the secret is', () => {
    const looked: string[] = [];
    const mask: Mask = (text) => (looked.push(text), text.replaceAll('sk-live-12345', '***'));
    let value: JsonValue = 'sk-live-12345';
    for (let depth = 0; depth < 12; depth++) value = [{ first: 'a', value, last: 'b' }];
    expect(JSON.stringify(maskJson(value, mask))).toBe(JSON.stringify(value).replace('sk-live-12345', '***'));
    expect(looked).toHaveLength(12 * 5 + 1);
  });
});

test('a code is masked, unless it is a code of the catalogue', () => {
  const mask = maskSecrets(['TOOL_FAILED']);
  expect(maskCode('MY_TOOL_FAILED', mask)).toBe('MY_***');
  expect(maskCode('E_TOOL_FAILED', mask)).toBe('E_TOOL_FAILED');
});

describe('a growing mask', () => {
  const [old, fresh] = ['old-secret-0123', 'new-secret-0123'];

  test('masks the secrets that it gets later, and never forgets one', () => {
    const mask = growingMask([]);
    expect([mask.isEmpty, mask(old), maskJson({ old }, mask)]).toEqual([true, old, { old }]);
    mask.add([old]);
    mask.add([fresh]);
    expect(mask.isEmpty).not.toBe(true);
    expect(mask(`${old} ${fresh}`)).toBe('*** ***');
    expect(maskJson({ key: [old, fresh] }, mask)).toEqual({ key: ['***', '***'] });
    expect(maskBeginning(`x ${fresh.slice(0, 10)}`, mask)).toBe('x ');
  });

  test('keeps its search until it gets a new secret', () => {
    const mask = growingMask([old]);
    const search = mask.search();
    mask.add([old]);
    expect(mask.search()).toBe(search);
    mask.add([fresh]);
    expect(mask.search()).not.toBe(search);
  });
});

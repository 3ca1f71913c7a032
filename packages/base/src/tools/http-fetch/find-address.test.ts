import { describe, expect, test } from 'bun:test';
import { readFetchConfig } from './fetch-config.ts';
import { findAddresses, hostOf, parseUrl } from './find-address.ts';

describe('a URL', () => {
  test.each([
    ['https://user:password@example.com/', 'has a user or a password in it'],
    ['https://user@example.com/', 'has a user or a password in it'],
    ['https://:password@example.com/', 'has a user or a password in it'],
    ['ftp://example.com/', 'is neither http nor https'],
    ['file:///etc/passwd', 'is neither http nor https'],
    ['ws://example.com/', 'is neither http nor https'],
    ['data:text/plain,x', 'is neither http nor https'],
    ['javascript:x', 'is neither http nor https'],
    ['example.com', 'is not a URL'],
    ['//example.com', 'is not a URL'],
    ['', 'is not a URL'],
  ])('%s is rejected whatever the config allows: it %s', (text, problem) => {
    const refused = () => parseUrl(text);
    expect(refused).toThrow(
      expect.objectContaining({ code: 'E_FETCH_URL', message: `${JSON.stringify(text)} ${problem}.` }),
    );
  });

  test('has a host without brackets and without the last dot', () => {
    const hosts = ['http://[::1]/', 'http://example.com./', 'http://EXAMPLE.com/'].map((text) =>
      hostOf(parseUrl(text)),
    );
    expect(hosts).toEqual(['::1', 'example.com', 'example.com']);
  });
});

describe('the addresses of a host', () => {
  const find = (url: string, answers: readonly string[], config = {}) =>
    findAddresses(parseUrl(url), readFetchConfig(config), async () => answers);

  test('are the allowed ones, IPv4 first', async () => {
    const answers = ['2606:4700::1111', '10.0.0.1', '1.1.1.1', 'localhost'];
    expect(await find('https://example.com', answers)).toEqual(['1.1.1.1', '2606:4700::1111']);
    expect(await find('https://example.com', answers, { allow: ['10.0.0.0/8'] })).toEqual([
      '10.0.0.1',
      '1.1.1.1',
      '2606:4700::1111',
    ]);
    expect(await find('https://example.com', ['10.0.0.1'], { allow: ['example.com'] })).toEqual(['10.0.0.1']);
  });

  test('are not looked up when the host is an address', async () => {
    expect(await find('https://1.1.1.1', ['127.0.0.1'])).toEqual(['1.1.1.1']);
  });
});

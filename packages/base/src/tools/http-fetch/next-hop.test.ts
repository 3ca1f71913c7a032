import { describe, expect, test } from 'bun:test';
import { type Hop, nextHop } from './next-hop.ts';

const headers = { 'x-own': 'canary' };
const hop = (url: string, more: Partial<Hop> = {}): Hop => ({ url: new URL(url), method: 'GET', headers, ...more });

describe('the next request after a redirect', () => {
  test.each([
    ['http from https', 'https://site.test/', 'http://site.test/'],
    ['https from http', 'http://site.test/', 'https://site.test/'],
    ['another port', 'https://site.test/', 'https://site.test:8443/'],
    ['another host', 'https://site.test/', 'https://www.site.test/'],
  ])('leaves the headers behind on the way to %s', (_title, from, to) => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      for (const status of [301, 302, 303]) expect(nextHop(hop(from, { method }), status, to)?.headers).toEqual({});
    }
    for (const status of [307, 308]) expect(nextHop(hop(from), status, to)?.headers).toEqual({});
  });

  test('keeps the headers within an origin', () => {
    expect(nextHop(hop('https://site.test/a'), 302, 'https://site.test:443/b')).toEqual(hop('https://site.test/b'));
  });

  test.each([307, 308])('a %d never takes a posted body to another origin', (status) => {
    const posted = hop('https://site.test/a', { method: 'POST', body: 'canary' });
    for (const to of ['https://other.test/', 'http://site.test/a', 'https://site.test:8443/a']) {
      expect(() => nextHop(posted, status, to)).toThrow(expect.objectContaining({ code: 'E_FETCH_REDIRECT' }));
    }
    expect(nextHop(posted, status, '/b')).toEqual({ ...posted, url: new URL('https://site.test/b') });
  });
});

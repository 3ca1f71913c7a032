// Tests over real HTTP: a browser with the link has access, and all others are refused.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { networkInterfaces } from 'node:os';
import { isErrorCode } from '@goondan/types';
import fc from 'fast-check';
import { anyText } from '../../../../test/any-text.ts';
import { StudioPlace } from '../testing/studio-place.ts';

// This timeout is long, because the machine may be busy.
setDefaultTimeout(60_000);

let place: StudioPlace;
beforeAll(async () => {
  place = new StudioPlace();
  await place.enter();
});
afterAll(() => place.remove());

const guards = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://127.0.0.1:PORT ws://localhost:PORT; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

function expectGuarded({ headers, url }: Response): void {
  const { port } = new URL(url);
  for (const [name, value] of Object.entries(guards))
    expect({ [name]: headers.get(name) }).toEqual({ [name]: value.replaceAll('PORT', port) });
  expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
}

async function expectRefusal(response: Response, status: number, code = 'E_STUDIO_FORBIDDEN'): Promise<void> {
  const body = (await response.json()) as { error: { code: string; message: string } };
  expect({ status: response.status, code: body.error.code }).toEqual({ status, code });
  expect(body.error.message).toMatch(/^[A-Z/].*[.?]$/);
  expectGuarded(response);
}

describe('a browser with the link', () => {
  test('gets a cookie that no script can read, and the token leaves the address', async () => {
    const response = await fetch(place.studio.url, { redirect: 'manual' });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/');
    const name = `gdn-studio-${place.studio.port}`;
    expect(response.headers.get('set-cookie')).toMatch(
      new RegExp(`^${name}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(response.headers.get('set-cookie')).not.toContain(new URL(place.studio.url).searchParams.get('token') ?? '');
    expectGuarded(response);
  });

  test('coming from another site gets the cookie with a page that redirects, since a plain redirect would lose it', async () => {
    const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' };
    const response = await fetch(place.studio.url, { redirect: 'manual', headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toStartWith(place.cookie);
    expect(await response.text()).toContain('<meta http-equiv="refresh" content="0; url=/">');
    expectGuarded(response);
  });

  test('gets the page and its parts', async () => {
    const page = await place.ask('/');
    expect({ status: page.status, type: page.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    });
    expect(page.headers.get('cache-control')).toBe('no-store');
    expectGuarded(page);
    const part = await place.ask('/chunk-0123abcd.js');
    expect(await part.text()).toBe('0;');
    expect(part.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    expectGuarded(part);
  });

  test('is answered under both names of this machine', async () => {
    for (const name of ['127.0.0.1', 'localhost']) {
      const headers = { Host: `${name}:${place.studio.port}`, Origin: `http://${name}:${place.studio.port}` };
      expect((await place.ask('/api/workspaces', { headers })).status).toBe(200);
    }
  });

  test('two Studios do not overwrite each other’s cookies', async () => {
    const other = new StudioPlace();
    try {
      await other.enter();
      const headers = { Cookie: `${other.cookie}; ${place.cookie}` };
      expect((await place.ask('/', { headers })).status).toBe(200);
      expect((await other.ask('/', { headers })).status).toBe(200);
      await expectRefusal(await other.ask('/', { headers: { Cookie: place.cookie } }), 401);
    } finally {
      await other.remove();
    }
  });

  test('must be on this machine: no other address of it is served', async () => {
    const others = Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
    for (const address of ['127.0.0.2', ...others.filter((each) => each !== '127.0.0.1')]) {
      const host = address.includes(':') ? `[${address}]` : address;
      const answered = fetch(`http://${host}:${place.studio.port}/`, { signal: AbortSignal.timeout(10_000) });
      expect(await answered.then(() => address).catch(() => 'nothing')).toBe('nothing');
    }
  });

  test('a ticket for a browser works once', async () => {
    const url = place.studio.ticketUrl();
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(303);
    await expectRefusal(await fetch(url, { redirect: 'manual' }), 401);
  });
});

describe('a browser without access', () => {
  const paths = ['/', '/chunk-0123abcd.js', '/nothing', '/api/workspaces', '/api/nothing', '/?tokens=x'];

  test.each(paths)('gets nothing at %s without a token', async (path) => {
    await expectRefusal(await place.ask(path, { isStranger: true }), 401);
  });

  test('is told where the link is', async () => {
    const response = await place.ask('/', { isStranger: true, headers: { Accept: 'text/html,*/*' } });
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('Open the link that <code>gdn studio</code> printed');
    expectGuarded(response);
  });

  const token = 'A'.repeat(43);
  test.each([token, '', 'x', `${token}\0`])('gets no access with a wrong token %p', async (wrong) => {
    const response = await place.ask(`/?token=${encodeURIComponent(wrong)}`, { isStranger: true });
    expect(response.headers.get('set-cookie')).toBeNull();
    await expectRefusal(response, 401);
  });

  test('gets no access with a wrong token beside a good cookie', async () => {
    await expectRefusal(await place.ask(`/?token=${token}`), 401);
  });

  test('cannot use the token as a cookie, or at another address', async () => {
    const right = new URL(place.studio.url).searchParams.get('token') ?? '';
    const name = place.cookie.split('=')[0] ?? '';
    await expectRefusal(await place.ask('/', { headers: { Cookie: `${name}=${right}` } }), 401);
    await expectRefusal(await place.ask(`/api/workspaces?token=${right}`, { isStranger: true }), 401);
    await expectRefusal(await place.ask(`/?token=${right}`, { isStranger: true, body: {} }), 401);
  });

  test.each(['', 'x', 'x=y', ';;;', '=', 'gdn-studio-1=x'])('gets no access with a wrong cookie %p', async (wrong) => {
    await expectRefusal(await place.ask('/', { headers: { Cookie: wrong } }), 401);
  });
});

describe('another page', () => {
  const port = () => place.studio.port;

  test('gets nothing by pointing its name here (DNS rebinding), even with the cookie', async () => {
    const hosts = [
      'evil.example',
      `evil.example:${port()}`,
      '127.0.0.1',
      'localhost',
      `127.0.0.1:${port() + 1}`,
      `localhost.evil.example:${port()}`,
      `0.0.0.0:${port()}`,
      `127.0.0.1.:${port()}`,
      `LOCALHOST:${port()}x`,
      `user@127.0.0.1:${port()}`,
    ];
    for (const host of hosts) {
      await expectRefusal(await place.ask('/api/workspaces', { headers: { Host: host } }), 421);
      await expectRefusal(
        await place.ask(new URL(place.studio.url).search.replace(/^/, '/'), { headers: { Host: host } }),
        421,
      );
    }
  });

  test('is rejected by its origin', async () => {
    const origins = [
      'null',
      'http://evil.example',
      `https://127.0.0.1:${port()}`,
      `http://127.0.0.1:${port() + 1}`,
      `http://localhost:${port()}`,
      'http://127.0.0.1',
      `http://127.0.0.1:${port()}.evil.example`,
    ];
    for (const origin of origins) {
      await expectRefusal(await place.ask('/api/workspaces', { headers: { Origin: origin } }), 403);
      await expectRefusal(await place.ask('/api/workspaces/x/send', { body: {}, headers: { Origin: origin } }), 403);
    }
  });

  test('cannot post, however it hides its origin', async () => {
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { 'Sec-Fetch-Site': site, Cookie: place.cookie, 'Content-Type': 'application/json' };
      const response = await fetch(`${place.origin}/api/workspaces/x/send`, { method: 'POST', headers, body: '{}' });
      await expectRefusal(response, 403);
    }
    const headers = { Cookie: place.cookie, 'Content-Type': 'application/json' };
    const silent = await fetch(`${place.origin}/api/workspaces/x/send`, { method: 'POST', headers, body: '{}' });
    await expectRefusal(silent, 403);
    const own = { ...headers, 'Sec-Fetch-Site': 'same-origin' };
    const known = await fetch(`${place.origin}/api/workspaces/x/send`, { method: 'POST', headers: own, body: '{}' });
    await expectRefusal(known, 404, 'E_WORKSPACE_UNKNOWN');
  });

  test('cannot read, though the browser sends the cookie for another port of this machine', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'no-cors' };
      await expectRefusal(await place.ask('/api/workspaces', { headers }), 403);
    }
    const link = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' };
    expect((await place.ask('/', { headers: link })).status).toBe(200);
  });

  test('cannot navigate to the data of Studio, by a link, a form or a window it opens', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
      for (const path of ['/api/workspaces', '/api/workspaces/x/instances', '/api/notices']) {
        await expectRefusal(await place.ask(path, { headers }), 403);
      }
    }
    // Simulates a person who types an address of the data into the browser.
    const typed = { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' };
    expect((await place.ask('/api/workspaces', { headers: typed })).status).toBe(200);
  });

  test('gets no permission when it asks (CORS)', async () => {
    const headers = { Origin: 'http://evil.example', 'Access-Control-Request-Method': 'POST' };
    await expectRefusal(await place.ask('/api/workspaces', { method: 'OPTIONS', headers }), 403);
    const own = { Origin: place.origin, 'Access-Control-Request-Method': 'POST' };
    const response = await place.ask('/api/workspaces', { method: 'OPTIONS', headers: own });
    await expectRefusal(response, 405, 'E_STUDIO_REQUEST');
  });
});

describe('a malformed request', () => {
  const send = '/api/workspaces/x/send';

  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'])('%s is rejected', async (method) => {
    for (const path of ['/', '/api/workspaces', send]) {
      await expectRefusal(await place.ask(path, { method }), 405, 'E_STUDIO_REQUEST');
    }
  });

  test('a method that is wrong here is rejected with the right one', async () => {
    const response = await place.ask('/api/workspaces', { body: {} });
    expect(response.headers.get('allow')).toBe('GET');
    await expectRefusal(response, 405, 'E_STUDIO_REQUEST');
    await expectRefusal(await place.ask('/', { body: {} }), 405, 'E_STUDIO_REQUEST');
  });

  test('is rejected without a host', async () => {
    expect(await place.raw('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.[01] 400 /);
    expect(await place.raw('GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.[01] 400 /);
  });

  test('no path reaches the disk', async () => {
    const paths = [
      '/../package.json',
      '/%2e%2e/package.json',
      '/index.html',
      '/constructor',
      '/__proto__',
      '/api',
      '/api/',
      '/api/workspaces/',
      '/api/workspaces/../../etc',
      '/api/workspaces/%2e%2e%2f%2e%2e',
      '/api/workspaces/x/y/z',
      '//etc/passwd',
    ];
    for (const path of paths) {
      const answer = await place.raw(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${place.studio.port}\r\nCookie: ${place.cookie}\r\n\r\n`,
      );
      expect(answer, path).toMatch(/^HTTP\/1\.1 404 /);
    }
  });

  test('is rejected when its address is too long', async () => {
    await expectRefusal(await place.ask(`/${'x'.repeat(5_000)}`), 414, 'E_STUDIO_REQUEST');
  });

  test('is rejected when parts of its address are not text', async () => {
    await expectRefusal(await place.ask('/api/workspaces/%ff'), 400, 'E_STUDIO_REQUEST');
  });
});

describe('1000 random requests', () => {
  const word = fc.constantFrom(
    ...['workspaces', 'api', 'x', 'send', 'events', 'conversation', 'trace', '..', '%2e%2e', '%00', '%ff', '%zz', ''],
    ...['constructor', '__proto__', 'index.html', 'chunk-0123abcd.js', 'a'.repeat(300), '\u202e', '?', '#', '&', '='],
  );
  const path = fc.oneof(
    { weight: 4, arbitrary: fc.array(word, { maxLength: 6 }).map((words) => `/${words.join('/')}`) },
    { weight: 2, arbitrary: fc.array(word, { maxLength: 3 }).map((words) => `/api/workspaces/x/${words.join('/')}`) },
    { weight: 2, arbitrary: fc.webPath() },
    { weight: 1, arbitrary: anyText({ maxLength: 60 }).map((text) => `/${encodeURI(text)}`) },
  );
  const query = fc.oneof(
    fc.constant(''),
    fc.webQueryParameters().map((text) => `?${text}`),
    fc.constantFrom('?token=', '?token=x', '?agent=a&agent=b', '?last=-1', '?at=1e9', `?id=${'y'.repeat(3_000)}`),
  );
  const headerValue = fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom('null', '*', '127.0.0.1', 'same-origin'));
  const headers = fc.dictionary(
    fc.constantFrom('Host', 'Origin', 'Cookie', 'Sec-Fetch-Site', 'Content-Type', 'Accept', 'Range', 'X-Anything'),
    headerValue.map((text) => text.replaceAll(/[^\x20-\x7e]/g, '').trim()),
    { maxKeys: 4 },
  );
  const nonsense = fc.record({
    method: fc.constantFrom(
      'GET',
      'GET',
      'GET',
      'POST',
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
      'HEAD',
      'PROPFIND',
    ),
    at: fc.tuple(path, query).map((parts) => parts.join('')),
    headers,
    isStranger: fc.boolean(),
    body: fc.oneof(fc.constant(''), fc.json(), fc.string(), fc.constant('{"a":'.repeat(1_000))),
  });
  /** The addresses that the server answers for a browser with access. */
  const real = new Set(['/', '/chunk-0123abcd.js', '/api/workspaces']);

  test('are rejected, each with a code, and Studio keeps running', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(nonsense, async ({ method, at, headers: own, isStranger, body }) => {
        const hasBody = method !== 'GET' && method !== 'HEAD';
        const response = await fetch(`${place.origin}${at}`, {
          method,
          redirect: 'manual',
          keepalive: false,
          headers: { ...(isStranger ? {} : { Cookie: place.cookie }), ...own },
          ...(hasBody ? { body } : {}),
          signal: AbortSignal.timeout(20_000),
        });
        const text = await response.text();
        if (response.status === 200) {
          expect({ isStranger, isReal: real.has(new URL(at, place.origin).pathname) }).toEqual({
            isStranger: false,
            isReal: true,
          });
          return;
        }
        refused += 1;
        expect(response.status, `${method} ${at}`).toBeGreaterThanOrEqual(400);
        expect(response.status, `${method} ${at}`).toBeLessThan(500);
        expectGuarded(response);
        if (method === 'HEAD' || !text.startsWith('{')) return;
        expect(isErrorCode((JSON.parse(text) as { error: { code: string } }).error.code)).toBe(true);
      }),
      { numRuns: 1_000, seed: 20_261_115 },
    );
    expect(refused).toBeGreaterThan(900);
    expect(place.reported).toEqual([]);
    expect((await place.ask('/api/workspaces')).status).toBe(200);
    expect(place.studio.streams).toBe(0);
  }, 240_000);

  test('do not stop Studio, even when they are not HTTP', async () => {
    const start = fc.constantFrom(
      '',
      'GET ',
      'POST / HTTP/1.1\r\n',
      `GET http://evil.example/ HTTP/1.1\r\nHost: x\r\n`,
    );
    const rest = fc.oneof(
      anyText(),
      fc.constantFrom('\r\n', '\r\n\r\n', 'Content-Length: -1\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'),
      fc.constantFrom(`A: ${'a'.repeat(100_000)}\r\n\r\n`, '\0\0\r\n\r\n', 'Host: a\r\nHost: b\r\n\r\n'),
    );
    for (const [first, second] of fc.sample(fc.tuple(start, rest), { numRuns: 200, seed: 7 })) {
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port: place.studio.port,
        socket: { data: (_, bytes) => expect(bytes.toString()).toMatch(/^HTTP\/1\.1 (?:4\d\d|505) /), error: () => {} },
      });
      socket.write(first + second);
      await Bun.sleep(2);
      socket.terminate();
    }
    expect((await place.ask('/api/workspaces')).status).toBe(200);
  });
});

// Tests with real servers on this machine, which the config allows.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { JsonObject } from '@goondan/types';
import { readFetchConfig } from './fetch-config.ts';
import { type FetchAsk, fetchPage } from './fetch-page.ts';
import { until } from '../../../../../test/until.ts';

let heard: { method: string; path: string; headers: Headers; body: string }[] = [];
beforeEach(() => void (heard = []));

const html = `<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head>
<body><h1>Hello</h1><p>One <a href="/two">two</a>.</p><script>alert(1)</script></body></html>`;
const packed = (bytes: Uint8Array, encoding: string) =>
  new Response(bytes, { headers: { 'content-encoding': encoding, 'content-type': 'text/plain' } });
const redirect = (status: number, location: string) => new Response(null, { status, headers: { location } });

const pages: Record<string, (request: Request) => Response | Promise<Response>> = {
  '/text': () => new Response('plain', { headers: { 'content-type': 'text/plain', etag: '"1"', 'x-other': '1' } }),
  '/json': () => Response.json({ a: 1 }, { status: 404 }),
  '/html': () => new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } }),
  '/latin': () =>
    new Response(new Uint8Array([0xe9]), { headers: { 'content-type': 'text/plain; charset=iso-8859-1' } }),
  '/odd-charset': () => new Response('é', { headers: { 'content-type': 'text/plain; charset=nonsense' } }),
  '/binary': () => new Response(new Uint8Array([0, 1, 2]), { headers: { 'content-type': 'image/png' } }),
  '/controls': () => new Response('a\u001b[31m\u0000\u202eb', { headers: { 'content-type': 'text/plain' } }),
  '/long': () => new Response('x'.repeat(100_000), { headers: { 'content-type': 'text/plain' } }),
  '/endless': () =>
    new Response(new ReadableStream({ pull: (stream) => stream.enqueue(Buffer.alloc(65_536, 'y')) }), {
      headers: { 'content-type': 'text/plain' },
    }),
  '/gzip': () => packed(gzipSync('unpacked'), 'gzip'),
  '/deflate': () => packed(deflateSync('unpacked'), 'deflate'),
  '/br': () => packed(brotliCompressSync('unpacked'), 'br'),
  '/bomb': () => packed(gzipSync(Buffer.alloc(20_000_000)), 'gzip'),
  '/twice': () => packed(gzipSync(gzipSync('x')), 'gzip, gzip'),
  '/broken': () => packed(Buffer.from('this is no gzip'), 'gzip'),
  '/slow': () => new Promise<Response>((resolve) => setTimeout(() => resolve(new Response('late')), 20_000)),
  '/drip': () =>
    new Response(
      new ReadableStream({
        async pull(stream) {
          stream.enqueue(Buffer.from('.'));
          await Bun.sleep(50);
        },
      }),
      { headers: { 'content-type': 'text/plain' } },
    ),
  '/to-text': () => redirect(302, '/text'),
  '/301': () => redirect(301, '/text'),
  '/303': () => redirect(303, '/text'),
  '/307': () => redirect(307, '/text'),
  '/308': () => redirect(308, '/text'),
  '/away': (request) => redirect(302, `http://other.test:${new URL(request.url).port}/text`),
  '/away-307': (request) => redirect(307, `http://other.test:${new URL(request.url).port}/text`),
  '/away-308': (request) => redirect(308, `http://other.test:${new URL(request.url).port}/text`),
  '/round': () => redirect(302, '/round'),
  '/nowhere': () => redirect(302, 'http://'),
  '/304': () => new Response(null, { status: 304 }),
};

const server = Bun.serve({
  hostname: '127.0.0.2',
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const [, count = ''] = /^\/count\/(\d+)$/.exec(pathname) ?? [];
    heard.push({ method: request.method, path: pathname, headers: request.headers, body: await request.text() });
    if (count !== '') return count === '0' ? new Response('end') : redirect(302, `/count/${Number(count) - 1}`);
    return pages[pathname]?.(request) ?? new Response('nothing', { status: 404 });
  },
});
afterAll(() => server.stop(true));

const resolve = async () => ['127.0.0.2'];

async function get(path: string, more: Partial<FetchAsk> = {}, config: JsonObject = {}, signal?: AbortSignal) {
  const place = {
    config: readFetchConfig({ allow: ['127.0.0.2'], ...config }),
    resolve,
    signal: signal ?? new AbortController().signal,
  };
  return fetchPage({ url: `http://site.test:${server.port}${path}`, ...more }, place);
}

const refusal = (asked: Promise<unknown>) =>
  asked.then(
    (result) => result,
    (error: unknown) => error,
  );

describe('an answer', () => {
  test('has its address, status, type and text, and few headers', async () => {
    const url = `http://site.test:${server.port}/text`;
    const whole = { url, status: 200, contentType: 'text/plain', text: 'plain', headers: { etag: '"1"' } };
    expect(await get('/text')).toEqual(whole);
    expect(await get('/json')).toMatchObject({ status: 404, text: '{"a":1}' });
    expect(heard[0]?.headers.get('host')).toBe(`site.test:${server.port}`);
  });

  test('in HTML comes as text, or unchanged', async () => {
    const text = `# Hello\nOne [two](http://site.test:${server.port}/two).`;
    expect(await get('/html')).toMatchObject({ title: 'A & B', text });
    expect(await get('/html', { raw: true })).toMatchObject({ text: html });
  });

  test('is decoded by its charset; binary content is not shown', async () => {
    expect(await get('/latin')).toMatchObject({ text: 'é' });
    expect(await get('/odd-charset')).toMatchObject({ text: 'é' });
    expect(await get('/binary')).toMatchObject({ text: '[3 bytes of image/png]' });
    expect(await get('/controls')).toMatchObject({ text: 'a␛[31m␀\ufffdb' });
  });

  test.each(['/gzip', '/deflate', '/br'])('%s is unpacked', async (path) => {
    expect(await get(path)).toMatchObject({ text: 'unpacked' });
  });

  test.each(['/twice', '/broken'])('%s cannot be unpacked: E_FETCH_FAILED', async (path) => {
    expect(await refusal(get(path))).toMatchObject({ code: 'E_FETCH_FAILED' });
  });

  test('is cut for the model, and read no further than its limit', async () => {
    const long = await get('/long');
    expect(long).toMatchObject({ cut: true, text: 'x'.repeat(30_000) });
    expect(await get('/long', {}, { outputLimit: 100_000, bodyLimit: 50_000 })).toMatchObject({
      cut: true,
      text: 'x'.repeat(50_000),
    });
    expect(await get('/endless')).toMatchObject({ cut: true, text: 'y'.repeat(30_000) });
    expect(await get('/bomb')).toMatchObject({ cut: true, text: '␀'.repeat(30_000) });
  });

  test('is waited for until the deadline', async () => {
    const message = `"http://site.test:${server.port}/slow" did not answer within 200 ms.`;
    expect(await refusal(get('/slow', {}, { timeoutMs: 200 }))).toMatchObject({ code: 'E_FETCH_TIMEOUT', message });
    expect(await refusal(get('/drip', {}, { timeoutMs: 300 }))).toMatchObject({ code: 'E_FETCH_TIMEOUT' });
  });

  test('is not waited for when the turn is cancelled', async () => {
    for (const path of ['/slow', '/drip']) {
      const cancel = new AbortController();
      const asked = refusal(get(path, {}, {}, cancel.signal));
      await until(() => heard.at(-1)?.path === path);
      cancel.abort(new Error('cancelled by a test'));
      expect(await asked).toMatchObject({ message: 'cancelled by a test' });
    }
  });

  test.each([
    ['nothing', ''],
    ['no HTTP', 'hello\r\n\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(300_000)}`],
    ['half a body', 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhalf'],
    ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ])('is an error, not an endless wait, when it is %s', async (_title, bytes) => {
    const odd = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(bytes));
    });
    await new Promise<void>((listening) => void odd.listen(0, '127.0.0.2', listening));
    const address = odd.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const asked = get('', { url: `http://site.test:${port}/` }, { timeoutMs: 1_000 });
    expect(await refusal(asked)).toMatchObject({ code: expect.stringMatching(/^E_FETCH_(?:FAILED|TIMEOUT)$/) });
    odd.close();
  });
});

describe('a redirect', () => {
  test('is followed, and the last address is returned', async () => {
    expect(await get('/to-text')).toMatchObject({ url: `http://site.test:${server.port}/text`, text: 'plain' });
    expect(await get('/count/5')).toMatchObject({ text: 'end' });
  });

  test('too many, and one without a target, are errors', async () => {
    for (const path of ['/count/6', '/round']) {
      expect(await refusal(get(path))).toMatchObject({ code: 'E_FETCH_REDIRECT' });
    }
    expect(heard).toHaveLength(12);
    expect(await refusal(get('/nowhere'))).toMatchObject({ code: 'E_FETCH_URL' });
    expect(await get('/304')).toMatchObject({ status: 304 });
  });

  test.each<[string, string, string]>([
    ['/301', 'GET', ''],
    ['/303', 'GET', ''],
    ['/307', 'POST', 'sent'],
    ['/308', 'POST', 'sent'],
  ])('%s continues with %s', async (path, method, body) => {
    await get(path, { method: 'POST', body: 'sent', headers: { 'content-type': 'text/x' } });
    expect(heard).toMatchObject([
      { method: 'POST', path, body: 'sent' },
      { method, path: '/text', body },
    ]);
  });

  test('to another host drops everything that was meant for the first', async () => {
    const headers = { 'site.test': { Authorization: 'Bearer canary' } };
    const allow = ['site.test', 'other.test'];
    await get('/away', { headers: { 'x-own': 'canary' } }, { headers, allow });
    expect(heard.map((request) => request.headers.get('authorization'))).toEqual(['Bearer canary', null]);
    expect(heard.map((request) => request.headers.get('x-own'))).toEqual(['canary', null]);
    for (const path of ['/away-307', '/away-308']) {
      const posted = get(path, { method: 'POST', body: 'canary' }, { allow });
      expect(await refusal(posted)).toMatchObject({ code: 'E_FETCH_REDIRECT' });
    }
    expect(heard).toHaveLength(4);
  });
});

describe('headers', () => {
  test.each([
    'Host',
    'cookie',
    'Authorization',
    'AUTHORIZATION',
    'proxy-authorization',
    'Connection',
    'content-length',
    'transfer-encoding',
    'Upgrade',
    'X-Forwarded-For',
    'Metadata-Flavor',
    'X-aws-ec2-metadata-token',
    'bad name',
    'x\r\ny',
    '',
    'é',
  ])('%j cannot be set by a call', async (name) => {
    expect(await refusal(get('/text', { headers: { [name]: 'x' } }))).toMatchObject({ code: 'E_FETCH_HEADER' });
    expect(heard).toEqual([]);
  });

  test.each(['a\r\nx: y', 'a\nb', '\0', 'x'.repeat(5_000)])('a value like %j is rejected', async (value) => {
    const refused = await refusal(get('/text', { headers: { 'x-one': value } }));
    expect(refused).toMatchObject({ code: 'E_FETCH_HEADER' });
  });

  test('others are sent; those of the bundle to their host only, and they take precedence', async () => {
    const headers = { 'site.test': { 'X-Key': 'ours' }, 'other.test': { 'X-Other': 'theirs' } };
    await get('/text', { headers: { 'X-Key': 'mine', 'x-more': '1' } }, { headers, allow: ['site.test'] });
    expect(Object.fromEntries(heard[0]?.headers ?? [])).toMatchObject({ 'x-key': 'ours', 'x-more': '1' });
    expect(heard[0]?.headers.has('x-other')).toBe(false);
  });

  test('are not sent unencrypted to a host that the bundle does not name', async () => {
    await get('/text', {}, { headers: { 'site.test': { Authorization: 'Bearer canary' } } });
    expect(heard[0]?.headers.has('authorization')).toBe(false);
  });
});

describe('allowed hosts', () => {
  test('only: no others, wherever they are', async () => {
    const config = { only: ['other.test', '*.site.test'] };
    expect(await refusal(get('/text', {}, config))).toMatchObject({
      code: 'E_FETCH_REFUSED',
      message: '"site.test" is not one of the hosts this tool may reach.',
    });
    expect(await get('', { url: `http://www.site.test:${server.port}/text` }, config)).toMatchObject({ status: 200 });
  });

  test('an unknown name, and a host without a server', async () => {
    const config = readFetchConfig({ allow: ['127.0.0.2'] });
    const signal = new AbortController().signal;
    const unknown = () => Promise.reject(new Error('ENOTFOUND'));
    const asked = fetchPage({ url: 'http://unknown.test/' }, { config, resolve: unknown, signal });
    expect(await refusal(asked)).toMatchObject({
      code: 'E_FETCH_FAILED',
      message: 'The name "unknown.test" is not known.',
    });
    expect(await refusal(get('', { url: 'http://site.test:1/' }))).toMatchObject({ code: 'E_FETCH_FAILED' });
  });

  test('when the first address does not answer, the next one is tried', async () => {
    const config = readFetchConfig({ allow: ['127.0.0.0/8'] });
    const several = async () => ['127.0.0.9', '127.0.0.2'];
    const url = `http://site.test:${server.port}/text`;
    const signal = new AbortController().signal;
    expect(await fetchPage({ url }, { config, resolve: several, signal })).toMatchObject({ text: 'plain' });
  });
});

describe('https', () => {
  const folder = join(import.meta.dir, 'testing');
  const tls = { cert: Bun.file(join(folder, 'certificate.pem')), key: Bun.file(join(folder, 'key.pem')) };
  const secure = Bun.serve({
    hostname: '127.0.0.2',
    port: 0,
    tls,
    fetch: (request) =>
      new Response(`secure ${request.headers.get('host')}`, { headers: { 'content-type': 'text/plain' } }),
  });
  afterAll(() => secure.stop(true));

  test('an untrusted certificate is rejected', async () => {
    const refused = await refusal(get('', { url: `https://pinned.test:${secure.port}/` }));
    expect(refused).toMatchObject({ code: 'E_FETCH_FAILED', message: expect.stringContaining('certificate') });
  });

  test('the certificate must match the name, though the address is connected to', async () => {
    const program = `
      import { fetchPage } from ${JSON.stringify(join(import.meta.dir, 'fetch-page.ts'))};
      import { readFetchConfig } from ${JSON.stringify(join(import.meta.dir, 'fetch-config.ts'))};
      const place = { config: readFetchConfig({ allow: ['127.0.0.2'] }), resolve: async () => ['127.0.0.2'], signal: new AbortController().signal };
      for (const name of ['pinned.test', 'other.test', '127.0.0.2']) {
        const { text, code } = await fetchPage({ url: 'https://' + name + ':${secure.port}/' }, place).catch((error) => error);
        console.log(name, text ?? code);
      }
    `;
    const child = Bun.spawn([process.execPath, '-e', program], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'certificate.pem') },
      stdout: 'pipe',
    });
    expect((await child.stdout.text()).split('\n')).toEqual([
      `pinned.test secure pinned.test:${secure.port}`,
      'other.test E_FETCH_FAILED',
      '127.0.0.2 E_FETCH_FAILED',
      '',
    ]);
  });
});

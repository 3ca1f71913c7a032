// Tries every known way to reach a forbidden address. Two servers listen at forbidden addresses and must get no
// request.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { readFetchConfig } from './fetch-config.ts';
import { fetchPage } from './fetch-page.ts';

const heard: string[] = [];
const listen = (hostname: string, port: number) =>
  Bun.serve({
    hostname,
    port,
    fetch(request) {
      heard.push(`${hostname} ${request.url}`);
      return new Response('canary of this machine');
    },
  });
const sentinel = listen('127.0.0.1', 0);
const port = Number(sentinel.port);
const others = ['::1', '127.0.0.3'].flatMap((hostname) => {
  try {
    return [listen(hostname, port)];
  } catch {
    // Some machines have no IPv6, so this server may be missing.
    return [];
  }
});

/** An allowed host that redirects to the URL in its query. */
const allowed = Bun.serve({
  hostname: '127.0.0.2',
  port: 0,
  fetch: (request) => {
    const { searchParams, pathname } = new URL(request.url);
    if (pathname === '/page') return new Response('allowed');
    // Sends the raw bytes, as a hostile server would.
    const location = Buffer.from(searchParams.get('to') ?? '').toString('latin1');
    const status = Number(searchParams.get('status') ?? 302);
    return new Response(null, { status, headers: { location } });
  },
});
afterAll(() => Promise.all([sentinel, allowed, ...others].map((server) => server.stop(true))));
beforeEach(() => void heard.splice(0));

/** Host names and the addresses that a hostile resolver returns for them. */
const names: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1'],
  'localhost.localdomain': ['127.0.0.1'],
  'sub.localhost': ['127.0.0.1'],
  'loopback.evil.test': ['127.0.0.1'],
  'other-loopback.evil.test': ['127.0.0.3'],
  'loopback6.evil.test': ['::1'],
  'mapped.evil.test': ['::ffff:127.0.0.1'],
  'mapped-hex.evil.test': ['::ffff:7f00:1'],
  'compatible.evil.test': ['::127.0.0.1'],
  'nat64.evil.test': ['64:ff9b::7f00:1'],
  'six-to-four.evil.test': ['2002:7f00:1::1'],
  'teredo.evil.test': ['2001:0:4136:e378:8000:63bf:80ff:fffe'],
  'unspecified.evil.test': ['0.0.0.0'],
  'unspecified6.evil.test': ['::'],
  'metadata.google.internal': ['169.254.169.254'],
  'private.evil.test': ['10.0.0.1', '192.168.1.1'],
  'unique-local.evil.test': ['fd00:ec2::254'],
  'zone.evil.test': ['fe80::1%lo'],
  'nonsense.evil.test': ['localhost', '127.0.0.1 ', '', '2130706433'],
  'nobody.evil.test': [],
  '127.0.0.1.nip.test': ['127.0.0.1'],
  'multicast.evil.test': ['224.0.0.1'],
  'allowed.test': ['127.0.0.2'],
};

const resolve = async (host: string) => {
  const found = names[host];
  if (found === undefined) throw new Error(`ENOTFOUND ${host}`);
  return found;
};

const hostile: readonly string[] = [
  // The forbidden address itself, in every notation.
  `http://127.0.0.1:${port}/`,
  `http://127.0.0.3:${port}/`,
  `http://2130706433:${port}/`,
  `http://0x7f000001:${port}/`,
  `http://0x7F.0x0.0x0.0x1:${port}/`,
  `http://017700000001:${port}/`,
  `http://0177.0.0.01:${port}/`,
  `http://0177.0.0.1:${port}/`,
  `http://127.1:${port}/`,
  `http://127.0.1:${port}/`,
  `http://0x7f.1:${port}/`,
  `http://00000000177.0.0.1:${port}/`,
  `http://127.0.0.0x1:${port}/`,
  `http://127.0.0.1.:${port}/`,
  `http://①②⑦.⓪.⓪.①:${port}/`,
  `http://１２７.０.０.１:${port}/`,
  `http://127。0。0。1:${port}/`,
  `http://127．0．0．1:${port}/`,
  `http://%31%32%37.0.0.1:${port}/`,
  `http://0:${port}/`,
  `http://0.0.0.0:${port}/`,
  `http://[::1]:${port}/`,
  `http://[0:0:0:0:0:0:0:1]:${port}/`,
  `http://[::]:${port}/`,
  `http://[::ffff:127.0.0.1]:${port}/`,
  `http://[::ffff:7f00:1]:${port}/`,
  `http://[0:0:0:0:0:ffff:7f00:0001]:${port}/`,
  `http://[::127.0.0.1]:${port}/`,
  `http://[64:ff9b::127.0.0.1]:${port}/`,
  `http://[2002:7f00:1::]:${port}/`,
  `http://[fe80::1%25lo]:${port}/`,
  `http://[::1%25lo]:${port}/`,
  `http:127.0.0.1:${port}/`,
  `http:/127.0.0.1:${port}/`,
  `http:\\\\127.0.0.1:${port}\\`,
  `\thttp://127.0.0.1:${port}/`,
  `ht\ntp://127.0.0.1:${port}/`,
  // Host names that resolve to a forbidden address.
  `http://localhost:${port}/`,
  `http://LOCALHOST:${port}/`,
  `http://localhost.:${port}/`,
  `http://ｌｏｃａｌｈｏｓｔ:${port}/`,
  `http://loc\u00adalhost:${port}/`,
  `http://localhost.localdomain:${port}/`,
  `http://sub.localhost:${port}/`,
  `http://127.0.0.1.nip.test:${port}/`,
  ...Object.keys(names)
    .filter((name) => name.endsWith('.evil.test'))
    .map((name) => `http://${name}:${port}/`),
  // Private networks, and the metadata services of providers.
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://100.100.100.200/latest/meta-data/',
  'http://168.63.129.16/machine/',
  'http://192.168.0.1/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://3232235521/',
  // URLs that look like another URL.
  `http://example.com@127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}@example.com/`,
  `http://user:password@allowed.test:${port}/`,
  `http://127.0.0.1:${port}\\@example.com/`,
  `http://example.com&@127.0.0.1:${port}#@example.com/`,
  `http://1.1.1.1 &@127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}#.example.com/`,
  `http://127.0.0.1:${port}?.example.com/`,
  // Other schemes.
  'file:///etc/passwd',
  `ftp://127.0.0.1:${port}/`,
  `gopher://127.0.0.1:${port}/_GET`,
  'data:text/plain,canary of this machine',
  'blob:null/1',
  'javascript:fetch(1)',
  `ws://127.0.0.1:${port}/`,
  `unix:///var/run/docker.sock`,
  '//127.0.0.1/',
  '/etc/passwd',
  '',
  `http://${'a'.repeat(9_000)}.evil.test/`,
];

async function outcomeOf(url: string, allow: readonly string[] = []): Promise<string> {
  try {
    const config = readFetchConfig({ allow: [...allow], timeoutMs: 5_000 });
    return JSON.stringify(await fetchPage({ url }, { config, resolve, signal: new AbortController().signal }));
  } catch (error) {
    return String((error as { code?: string }).code);
  }
}

describe('http-fetch', () => {
  test('at least 60 hostile URLs are tried, each once', () => {
    expect(hostile.filter((url, index) => hostile.indexOf(url) !== index)).toEqual([]);
    expect(hostile.length).toBeGreaterThanOrEqual(60);
  });

  test('the servers would notice a request', async () => {
    for (const { hostname, port: own } of [sentinel, ...others]) {
      const host = hostname?.includes(':') ? `[${hostname}]` : (hostname ?? '');
      expect(await outcomeOf(`http://${host}:${own}/`, [hostname ?? ''])).toContain('canary of this machine');
    }
    expect(heard).toHaveLength(1 + others.length);
  });

  test.each(hostile)('is not sent to %j', async (url) => {
    expect(await outcomeOf(url)).toMatch(/^E_FETCH_(?:REFUSED|URL|FAILED)$/);
    expect(heard).toEqual([]);
  });

  test.each(
    hostile.filter((url) => url !== '' && !url.startsWith('/etc') && !/[\t\n]/.test(url) && url.length < 1_000),
  )('is not led to %j by a redirect', async (url) => {
    const to = encodeURIComponent(url);
    for (const status of [302, 307]) {
      const start = `http://allowed.test:${allowed.port}/?status=${status}&to=${to}`;
      expect(await outcomeOf(start, ['127.0.0.2'])).not.toContain('canary');
    }
    expect(heard).toEqual([]);
  });
});

describe('a name with a changing answer', () => {
  /** Resolves a name to `first` the first time, and to this machine from the second time on. */
  function rebinding(first: string) {
    const asked: string[] = [];
    return {
      asked,
      resolve: async (host: string) => {
        asked.push(host);
        return [asked.length === 1 ? first : '127.0.0.1'];
      },
    };
  }
  const signal = new AbortController().signal;

  test('is connected to at the checked address, and not resolved again', async () => {
    const config = readFetchConfig({ allow: ['127.0.0.2'] });
    const { resolve: rebind, asked } = rebinding('127.0.0.2');
    const url = `http://rebind.test:${allowed.port}/page`;
    expect(await fetchPage({ url }, { config, resolve: rebind, signal })).toMatchObject({
      status: 200,
      text: 'allowed',
    });
    expect(asked).toEqual(['rebind.test']);
  });

  test('is checked again at each redirect', async () => {
    const config = readFetchConfig({ allow: ['127.0.0.2'] });
    const { resolve: rebind, asked } = rebinding('127.0.0.2');
    const url = `http://rebind.test:${allowed.port}/?to=${encodeURIComponent(`http://rebind.test:${port}/`)}`;
    const refused = await fetchPage({ url }, { config, resolve: rebind, signal }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_FETCH_REFUSED', message: '"rebind.test" is not at a public address.' });
    expect(asked).toEqual(['rebind.test', 'rebind.test']);
    expect(heard).toEqual([]);
  });

  test('uses only the allowed ones of several answers', async () => {
    const config = readFetchConfig({ allow: ['127.0.0.2'] });
    const mixed = async () => ['127.0.0.1', '::1', '127.0.0.2', '10.0.0.1'];
    const url = `http://mixed.test:${allowed.port}/page`;
    expect(await fetchPage({ url }, { config, resolve: mixed, signal })).toMatchObject({ text: 'allowed' });
    expect(heard).toEqual([]);
  });
});

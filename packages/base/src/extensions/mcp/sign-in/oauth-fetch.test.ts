import { describe, expect, test } from 'bun:test';
import { hide, oauthFetch } from './oauth-fetch.ts';

const answering = (answer: () => Response) => oauthFetch('https://a.example/mcp', undefined, async () => answer());

describe('the requests of a sign-in', () => {
  test('N-01 an error repeats no secret of its request', async () => {
    const { fetch } = answering(() =>
      Response.json(
        { error: 'invalid_grant', error_description: 'no refresh-1234, cmVmcmVzaA==', more: 'refresh-1234' },
        { status: 400 },
      ),
    );
    const body = new URLSearchParams({ refresh_token: 'refresh-1234' });
    const headers = { authorization: 'Basic cmVmcmVzaA==' };
    const response = await fetch('https://a.example/token', { method: 'POST', body, headers });
    expect(await response.json()).toEqual({ error: 'invalid_grant', error_description: 'no ***, ***' });
  });

  test('N-01 an error that is not one of OAuth is dropped', async () => {
    const { fetch, problem } = answering(() => new Response('<h1>refresh-1234</h1>', { status: 502 }));
    expect(await (await fetch('https://a.example/token')).text()).toBe('');
    expect(problem()).toBe('https://a.example/token answered with HTTP 502.');
  });

  test('N-01 an answer has a maximum size', async () => {
    const { fetch, problem } = answering(() => new Response(new Uint8Array(1_000_001)));
    expect(fetch('https://a.example/metadata')).rejects.toThrow('more than 1000000 bytes');
    expect(problem()).toContain('https://a.example/metadata cannot be reached');
  });

  test('N-01 a server with TLS leads to no request without TLS', async () => {
    const { fetch } = answering(() => Response.json({}));
    expect(fetch('http://a.example/metadata')).rejects.toThrow('http://a.example/metadata is not an https address.');
    const own = oauthFetch('http://localhost:1/mcp', undefined, async () => Response.json({}));
    expect(own.fetch('http://a.example/token')).rejects.toThrow('http://a.example/token is not an https address.');
    expect(
      (await oauthFetch('http://127.0.0.1:1/', undefined, async () => Response.json({})).fetch('http://127.0.0.1:2/'))
        .ok,
    ).toBe(true);
  });

  test('N-01 a server of this machine leads to no file of this machine', async () => {
    const asked: string[] = [];
    const { fetch } = oauthFetch('http://127.0.0.1:1/', undefined, async (url) => {
      asked.push(String(url));
      return new Response(null, { status: 302, headers: { location: 'file:///etc/passwd' } });
    });
    const refused = 'file:///etc/passwd is not an https address.';
    for (const address of ['http://127.0.0.1:1/metadata', 'file:///etc/passwd'])
      expect(String(await fetch(address).catch((error: unknown) => error))).toContain(refused);
    expect(asked).toEqual(['http://127.0.0.1:1/metadata']);
  });

  test('N-01 a redirect leads to no request without TLS, and nothing that is posted follows one', async () => {
    const answers = new Map<string, Response>();
    const asked: string[] = [];
    const { fetch } = oauthFetch('https://a.example/mcp', undefined, async (url, init) => {
      // A request that follows redirects by itself cannot be checked.
      expect(init?.redirect).toBe('manual');
      asked.push(String(url));
      return answers.get(String(url)) ?? Response.json({ issuer: 'found' });
    });
    const redirect = (location: string) => new Response(null, { status: 307, headers: { location } });
    answers.set('https://a.example/old', redirect('/new'));
    expect(await (await fetch('https://a.example/old')).json()).toEqual({ issuer: 'found' });
    expect(asked.splice(0)).toEqual(['https://a.example/old', 'https://a.example/new']);

    answers.set('https://a.example/open', redirect('http://b.example/open'));
    expect(fetch('https://a.example/open')).rejects.toThrow('http://b.example/open is not an https address.');
    await Bun.sleep(0);
    expect(asked.splice(0)).toEqual(['https://a.example/open']);

    answers.set('https://a.example/token', redirect('https://b.example/token'));
    const body = new URLSearchParams({ refresh_token: 'refresh-1234' });
    expect((await fetch('https://a.example/token', { method: 'POST', body })).status).toBe(307);
    expect(asked.splice(0)).toEqual(['https://a.example/token']);

    answers.set('https://a.example/round', redirect('/round'));
    expect((await fetch('https://a.example/round')).ok).toBe(false);
    expect(asked).toHaveLength(4);
  });

  test('N-01 a request ends with the person who gives up', async () => {
    const leaving = new AbortController();
    const signals: (AbortSignal | null | undefined)[] = [];
    const { fetch, problem } = oauthFetch('https://a.example/', leaving.signal, async (_, init) => {
      signals.push(init?.signal);
      if (leaving.signal.aborted) throw new Error('The connection was closed.');
      return Response.json({});
    });
    await fetch('https://a.example/');
    leaving.abort(new Error('The person left.'));
    expect(signals.map((each) => each?.aborted)).toEqual([true]);
    // Nothing is wrong with the authorization server.
    const left: unknown = await fetch('https://a.example/').then(String, String);
    expect(left).toBe('Error: The person left.');
    expect(problem()).toBeUndefined();
  });

  test('an answer without a body, and the success after a problem', async () => {
    let status = 503;
    const { fetch, problem } = answering(() => new Response(null, { status }));
    await fetch('https://a.example/');
    expect(problem()).toBeDefined();
    status = 204;
    expect((await fetch('https://a.example/')).status).toBe(204);
    expect(problem()).toBeUndefined();
  });

  test('a longer secret is replaced before its beginning', () => {
    expect(hide('a-secret-and-more', ['a-secret', 'a-secret-and-more'])).toBe('***');
    expect(hide('short', ['short'])).toBe('short');
  });
});

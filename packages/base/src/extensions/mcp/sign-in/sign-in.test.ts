// Tests the sign-in of an agent and of a person against a server of this process.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { type Answer, extension, fakeApprover, scriptedAgent, type ScriptedAgent } from '@goondan/runtime/testing';
import { keep } from '../keeper.ts';
import { register } from '../register.ts';
import { GuardedServer } from '../testing/guarded-server.ts';
import { obedientModel } from '../testing/obedient-model.ts';
import { ServerPlace } from '../testing/server-place.ts';
import { signInAsPerson, targetOf, type TestSignIn } from '../testing/sign-in-as-person.ts';
import { loadSdk } from '../sdk.ts';
import { ServerSignIn } from './server-sign-in.ts';
import { describeSignIn } from './sign-in-status.ts';
import { SignInFile } from './sign-in-file.ts';
import { signOut } from './sign-out.ts';
import { toolResults } from '../testing/watch-calls.ts';

setDefaultTimeout(30_000);

let place: ServerPlace;
let server: GuardedServer;
const agents: ScriptedAgent[] = [];
const rootBefore = process.env['GOONDAN_STATE_ROOT'];
beforeEach(() => {
  place = new ServerPlace();
  server = new GuardedServer();
  process.env['GOONDAN_STATE_ROOT'] = join(place.folder, 'state');
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
  await server.stop();
  place[Symbol.dispose]();
  if (rootBefore === undefined) delete process.env['GOONDAN_STATE_ROOT'];
  else process.env['GOONDAN_STATE_ROOT'] = rootBefore;
});

const here = (more: Partial<TestSignIn> = {}): TestSignIn => ({
  url: server.url,
  bundleFolder: place.folder,
  stateRoot: join(place.folder, 'state'),
  ...more,
});
const fileOf = async (more: Partial<TestSignIn> = {}) => new SignInFile((await targetOf(here(more))).oauth.place);

async function start(config: JsonObject = {}, by: typeof register = register, answer?: Answer): Promise<ScriptedAgent> {
  const agent = await scriptedAgent({
    ...(answer === undefined ? {} : { approver: fakeApprover(answer) }),
    bundleFolder: place.folder,
    workdir: place.folder,
    extensions: [extension('server', by, { config: { transport: { type: 'http', url: server.url }, ...config } })],
    model: obedientModel('server'),
  });
  agents.push(agent);
  return agent;
}

/** Calls a tool, and returns its result as text. */
async function call(agent: ScriptedAgent, tool: string): Promise<string> {
  const { result } = await agent.say(`${tool} {}`);
  if (result.error !== undefined) return JSON.stringify(result.error);
  return JSON.stringify((await toolResults(agent)).at(-1)?.output);
}

/** Starts an agent for whom a person has signed in, and which has called a tool. */
async function startSignedIn(): Promise<ScriptedAgent> {
  await signInAsPerson(here());
  const agent = await start();
  await call(agent, 'look');
  return agent;
}

describe('an agent whose server needs a sign-in', () => {
  test('N-01 says so with a code, and works with the next call after a person has signed in', async () => {
    const agent = await start({ required: true });
    expect(await call(agent, 'look')).toContain('E_MCP_SIGN_IN');
    expect(await signInAsPerson(here())).toMatchObject({ signedIn: true, scopes: ['read'], issuer: server.origin });
    expect(await call(agent, 'look')).toContain('look with ***');
    expect(server.count('/register')).toBe(1);
  });

  test('N-01 continues without the tools of the server, and has them in the turn after the sign-in', async () => {
    const agent = await start();
    expect(await call(agent, 'look')).toContain('E_TOOL');
    const failed = agent.logs.find(({ message }) => message.startsWith('mcp.failed'));
    expect(failed?.message).toContain('needs a sign-in: nobody has signed in. (E_MCP_SIGN_IN)');
    await signInAsPerson(here());
    expect(await call(agent, 'look')).toContain('look with ***');
  });

  test('N-01 a call waits until a person has signed in on the page, and needs no other answer', async () => {
    await signInAsPerson(here());
    const asked: object[] = [];
    const agent = await start({}, register, async (question) => {
      asked.push(question);
      // The person signs in, and does not answer the question.
      await fetch(question.url ?? '');
      return new Promise(() => undefined);
    });
    await call(agent, 'look');
    server.expireAll();
    expect(await call(agent, 'look')).toContain('look with ***');
    // More scopes are another sign-in.
    expect(await call(agent, 'write')).toContain('write with ***');
    const url = expect.stringContaining(`${server.origin}/authorize?`);
    expect(asked).toMatchObject([
      { kind: 'page', askedBy: { server: 'server' }, reason: expect.stringContaining('has expired'), url },
      { kind: 'page', askedBy: { server: 'server' }, reason: expect.stringContaining('read write'), url },
    ]);
    const { tokens } = (await fileOf()).read();
    expect(JSON.stringify(asked)).not.toContain(tokens?.access_token ?? '-');
  });

  test('N-01 a call that waits goes on after gdn mcp login, whether or not its question is answered', async () => {
    await signInAsPerson(here());
    let answered: { decision: 'approved'; by: string } | undefined = { decision: 'approved', by: 'ana' };
    const agent = await start({}, register, async () => {
      void signInAsPerson(here());
      return answered ?? new Promise(() => undefined);
    });
    await call(agent, 'look');
    // The first question is answered before the sign-in, and the second one never.
    for (const tool of ['write', 'look']) {
      expect(await call(agent, tool)).toContain(`${tool} with ***`);
      answered = undefined;
      server.expireAll();
    }
  });

  test('N-01 an agent of a kept server masks the tokens of a sign-in at once, in the call that waited for it', async () => {
    await signInAsPerson(here());
    const { folder } = place;
    const socket = join(folder, 'k.sock');
    const config = { transport: { type: 'http', url: server.url }, attach: { mode: 'stateful' } };
    const report = () => undefined;
    const end = await keep({
      name: 'server',
      config,
      socket,
      bundleFolder: folder,
      workdir: folder,
      logger: console,
      report,
    });
    // The keeper removes tokens from what the server says, so this layer shows the new one, as any tool that reads files can.
    const showing: typeof register = (api, given, about) => {
      api.pipeline.register('toolCall', async (ctx) => {
        const result = await ctx.next();
        return { ...result, output: `It is ${(await fileOf()).read().tokens?.access_token}.` };
      });
      return register(api, given, about);
    };
    const agent = await start({ ...config, keeper: { socket } }, showing, async ({ url = '' }) => {
      await fetch(url);
      return { decision: 'approved', by: 'ana' };
    });
    try {
      expect(await call(agent, 'write')).toContain('"It is ***."');
      expect(server.asked).toHaveLength(2);
    } finally {
      await end();
    }
  });

  test('N-01 a call fails with a code if the person declines to sign in', async () => {
    await signInAsPerson(here());
    const agent = await start({}, register, () => ({ decision: 'denied', by: 'ana' }));
    await call(agent, 'look');
    server.expireAll();
    expect(await call(agent, 'look')).toContain('E_MCP_SIGN_IN');
  });

  test('N-01 masks its tokens in the whole conversation, whoever names them', async () => {
    const agent = await startSignedIn();
    const { tokens } = (await fileOf()).read();
    await agent.say(`Is it ${tokens?.access_token} or ${tokens?.refresh_token}?`);
    const told = JSON.stringify(agent.requests.at(-1)?.messages);
    expect(told).toContain('Is it *** or ***?');
  });

  test('N-01 refreshes an expired token, and keeps the new refresh token', async () => {
    const receivedAt = async () => (await fileOf()).read().receivedAt;
    const begun = Date.now();
    await signInAsPerson(here());
    expect(await receivedAt()).toBeGreaterThanOrEqual(begun);
    const signedIn = Date.now();
    const agent = await start();
    for (let round = 1; round <= 3; round += 1) {
      server.expireAccess();
      expect(await call(agent, 'look')).toContain('look with ***');
      expect(server.count('refresh_token')).toBe(round);
    }
    expect(server.asked).toEqual(['read']);
    expect(await receivedAt()).toBeGreaterThanOrEqual(signedIn);
  });

  test('N-01 a new sign-in asks for the scopes of the last one, too', async () => {
    await signInAsPerson(here({ oauth: { scopes: ['write'] } }));
    await signInAsPerson(here());
    expect(server.asked.map((scope) => scope.split(' ').toSorted())).toEqual([
      ['read', 'write'],
      ['read', 'write'],
    ]);
  });

  test('N-01 waits for the lock before it gets more scopes, and tells its secrets before it uses them', async () => {
    const robot = { clientId: 'robot', clientSecret: '${ROBOT}', grant: 'client_credentials' } as const;
    const { url, oauth } = await targetOf(here({ oauth: robot, environment: { ROBOT: 'a secret of a robot' } }));
    const secrets: string[] = [];
    const onSecrets = (told: readonly string[]) => void secrets.push(...told);
    const signIn = new ServerSignIn({ sdk: await loadSdk(), url, oauth, onSecrets });
    expect(secrets).toEqual(['a secret of a robot']);
    const waiting: Promise<void>[] = [];
    await new SignInFile(oauth.place).lock(async () => {
      waiting.push(signIn.stepUp('write', undefined));
      await Bun.sleep(40);
      expect(server.count('/token')).toBe(0);
    });
    await Promise.all(waiting);
    expect([server.count('/token'), secrets.length]).toEqual([1, 2]);
  });

  test('N-01 needs a person again when the refresh token has expired, and keeps the registered client', async () => {
    const agent = await startSignedIn();
    server.expireAll();
    expect(await call(agent, 'look')).toContain('the sign-in has expired');
    expect((await fileOf()).read()).toMatchObject({ client: { client_id: 'client-1' }, demand: { scope: 'read' } });
    await signInAsPerson(here());
    expect(await call(agent, 'look')).toContain('look with ***');
    expect(server.count('/register')).toBe(1);
  });

  test('N-01 does not use a file that is damaged or readable for others, until a person signs in again', async () => {
    const agent = await startSignedIn();
    const { path } = (await fileOf()).place;
    for (const spoil of [() => chmodSync(path, 0o644), () => writeFileSync(path, '{"version":1')]) {
      spoil();
      expect(await call(agent, 'look')).toContain('E_MCP_TOKENS');
      await signInAsPerson(here());
      expect(await call(agent, 'look')).toContain('look with ***');
    }
  });

  test('N-01 a failing authorization server does not end the sign-in', async () => {
    const agent = await startSignedIn();
    server.expireAccess();
    server.become({ answers: { '/token': () => new Response('<h1>Oops</h1>', { status: 503 }) } });
    const failed = await call(agent, 'look');
    expect(failed).toContain('E_MCP_CALL');
    expect(failed).toContain('/token answered with HTTP 503');
    server.become({});
    expect(await call(agent, 'look')).toContain('look with ***');
    expect(server.asked).toHaveLength(1);
  });

  test('N-01 asks for more scopes, together with the granted ones, and stops when they do not help', async () => {
    await signInAsPerson(here());
    const agent = await start();
    const refused = await call(agent, 'write');
    expect(refused).toContain('E_MCP_SIGN_IN');
    expect(refused).toContain('more scopes: read write');
    await signInAsPerson(here());
    expect(server.asked).toEqual(['read', 'read write']);
    expect(await call(agent, 'write')).toContain('write with ***');

    const challenge = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' };
    server.become({ answers: { '/mcp': () => new Response(null, { status: 403, headers: challenge }) } });
    expect(await call(agent, 'look')).toContain('although they were granted');
    expect(server.asked).toHaveLength(2);
  });

  test('N-01 client credentials need no person, for the first token, a new one and more scopes', async () => {
    const oauth = { clientId: 'robot', clientSecret: '${ROBOT}', grant: 'client_credentials' };
    process.env['ROBOT'] = 'a secret of a robot';
    try {
      const agent = await start({ transport: { type: 'http', url: server.url, oauth } });
      expect(await call(agent, 'look')).toContain('look with ***');
      server.expireAccess();
      expect(await call(agent, 'look')).toContain('look with ***');
      expect(await call(agent, 'write')).toContain('write with ***');
      expect([server.count('client_credentials'), server.count('/authorize'), server.count('/register')]).toEqual([
        3, 0, 0,
      ]);
    } finally {
      delete process.env['ROBOT'];
    }
  });

  test('N-01 many agents refresh once', async () => {
    await signInAsPerson(here());
    const started = await Promise.all([1, 2, 3, 4, 5].map(() => start()));
    for (const agent of started) await call(agent, 'look');
    server.become({ beforeTokens: () => Bun.sleep(100) });
    server.expireAccess();
    const answers = await Promise.all(started.map((agent) => call(agent, 'look')));
    expect(answers.filter((answer) => answer.includes('look with ***'))).toHaveLength(5);
    expect(server.count('refresh_token')).toBe(1);
  });

  test('N-01 oauth: false, and a token in headers, never sign in', async () => {
    await signInAsPerson(here());
    const transport = { type: 'http', url: server.url };
    const silent = await start({ transport: { ...transport, oauth: false }, required: true });
    expect(await call(silent, 'look')).toContain('rejected the credentials (HTTP 401)');
    const own = await start({ transport: { ...transport, headers: { authorization: 'Bearer own' } }, required: true });
    expect(await call(own, 'look')).toContain('rejected the credentials (HTTP 401)');
  });

  test('N-01 a server of another machine without TLS that demands a sign-in is told apart from one that rejects a token', async () => {
    // This address leads to the server, too, and is not known to be of this machine.
    const transport = { type: 'http', url: server.url.replace('127.0.0.1', '0.0.0.0') };
    const clear = await start({ transport, required: true });
    expect(await call(clear, 'look')).toContain('it demands a sign-in, but its url begins with http:');
    const own = await start({ transport: { ...transport, headers: { Authorization: 'Bearer own' } }, required: true });
    expect(await call(own, 'look')).toContain('rejected the credentials (HTTP 401)');
  });

  test('N-01 a server at another address, and the same address in another bundle, get no tokens', async () => {
    await signInAsPerson(here());
    const other = new GuardedServer();
    try {
      const agent = await start({ transport: { type: 'http', url: other.url }, required: true });
      expect(await call(agent, 'look')).toContain('nobody has signed in');
      expect((await fileOf({ bundleFolder: '/elsewhere' })).read()).toEqual({});
    } finally {
      await other.stop();
    }
  });
});

describe('a person', () => {
  test('N-01 gets a file that only the user can read, without a token about the person', async () => {
    await signInAsPerson(here());
    const { path } = (await fileOf()).place;
    expect([statSync(path).mode & 0o777, statSync(join(path, '..')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readFileSync(path, 'utf8')).not.toContain('id-token');
    expect(existsSync(`${path}.next`)).toBe(false);
  });

  test('N-01 signs in again with the same registered client, if its port is free', async () => {
    await signInAsPerson(here());
    await signInAsPerson(here());
    expect(server.count('/register')).toBe(1);
    const { client } = (await fileOf()).read();
    // The cast is safe: the server returned it.
    const [redirect = ''] = (client as { redirect_uris?: string[] }).redirect_uris ?? [];
    const taken = Bun.serve({
      hostname: '127.0.0.1',
      port: Number(new URL(redirect).port),
      fetch: () => new Response(),
    });
    await signInAsPerson(here()).finally(() => void taken.stop(true));
    expect(server.count('/register')).toBe(2);
  });

  test('N-01 a redirect with a wrong state, or another issuer, gives no token', async () => {
    const wrong = async (address: string, change: (back: URL) => void) => {
      const { headers } = await fetch(address, { redirect: 'manual' });
      const back = new URL(headers.get('location') ?? '');
      const right = back.href;
      change(back);
      const { status } = await fetch(back);
      return { status, right };
    };
    let refused = 0;
    await signInAsPerson(here(), async (address) => {
      const { status, right } = await wrong(address, (back) => back.searchParams.set('state', 'guessed'));
      refused = status;
      await fetch(right);
    });
    expect([refused, server.count('authorization_code')]).toEqual([400, 1]);

    const elsewhere = signInAsPerson(here(), (address) =>
      wrong(address, (back) => back.searchParams.set('iss', 'https://evil.example')),
    );
    expect(elsewhere).rejects.toMatchObject({ code: 'E_MCP_SIGN_IN' });
    expect(server.count('authorization_code')).toBe(1);
  });

  test('N-01 a server that answers garbage, too much, or leads elsewhere is refused with a code', async () => {
    const metadata = '/.well-known/oauth-authorization-server';
    const answers: Readonly<Record<string, () => Response>> = {
      garbage: () => new Response('{"issuer": 7'),
      huge: () => new Response(new Uint8Array(2_000_000)),
      elsewhere: () => Response.redirect('http://127.0.0.1:1/', 302),
      insecure: () =>
        Response.json({ issuer: server.origin, authorization_endpoint: 'javascript:alert(1)', token_endpoint: 'x' }),
    };
    for (const [name, answer] of Object.entries(answers)) {
      server.become({ answers: { [metadata]: answer, '/register': () => new Response(null, { status: 404 }) } });
      const error = await signInAsPerson(here()).then(
        () => name,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: 'E_MCP_SIGN_IN' });
    }
    expect((await fileOf()).read().tokens).toBeUndefined();
  });

  test('N-01 credentials of a declared client go only to the issuer of the first sign-in, or to the declared one', async () => {
    const environment = { SECRET: 'a declared secret' };
    const oauth = { clientId: 'declared', clientSecret: '${SECRET}' };
    await signInAsPerson(here({ oauth, environment }));
    const thief = new GuardedServer();
    try {
      server.become({
        answers: {
          '/.well-known/oauth-protected-resource/mcp': () =>
            Response.json({ resource: server.url, authorization_servers: [thief.origin] }),
        },
      });
      expect(signInAsPerson(here({ oauth, environment }))).rejects.toMatchObject({
        message: expect.stringContaining('Authorization server mismatch'),
        suggestion: expect.stringContaining('`gdn mcp logout server`'),
      });
      const issuer = { ...oauth, issuer: 'https://right.example' };
      expect(signInAsPerson(here({ oauth: issuer, environment }))).rejects.toThrow('Authorization server mismatch');
      expect([thief.count('/token'), thief.count('/authorize')]).toEqual([0, 0]);
    } finally {
      await thief.stop();
    }
  });

  test('N-01 who signs out leaves no file, and tokens that the server has revoked', async () => {
    await signInAsPerson(here());
    const { url, oauth } = await targetOf(here());
    const { signal } = new AbortController();
    expect(await signOut(url, oauth, signal)).toEqual({ wasSignedIn: true, revoked: true });
    expect([server.count('/revoke'), existsSync(oauth.place.path)]).toEqual([2, false]);
    expect(await signOut(url, oauth, signal)).toEqual({ wasSignedIn: false, revoked: false });

    await signInAsPerson(here());
    server.become({ metadata: { revocation_endpoint: undefined } });
    expect(await signOut(url, oauth, signal)).toMatchObject({ wasSignedIn: true, revoked: false });
    expect(existsSync(oauth.place.path)).toBe(false);

    // An agent without a sign-in leaves the demand of the server.
    const file = await fileOf();
    await file.lock(async () => file.write({ demand: { scope: 'all' } }));
    expect(await signOut(url, oauth, signal)).toEqual({ wasSignedIn: false, revoked: false });
    expect(existsSync(oauth.place.path)).toBe(false);

    await file.lock(async () => file.write({}));
    writeFileSync(oauth.place.path, 'damaged');
    const damaged = await signOut(url, oauth, signal);
    expect(damaged).toMatchObject({ wasSignedIn: true, revoked: false, problem: expect.stringContaining('damaged') });
    expect(existsSync(oauth.place.path)).toBe(false);
  });

  test('N-01 who signs out sends no token to another authorization server', async () => {
    await signInAsPerson(here());
    const { url, oauth } = await targetOf(here());
    const file = await fileOf();
    const { tokens, ...known } = file.read();
    if (tokens === undefined) throw new Error('Nobody is signed in.');
    await file.lock(async () => file.write({ ...known, tokens: { ...tokens, issuer: 'https://before.example' } }));
    const left = await signOut(url, oauth, new AbortController().signal);
    expect(left).toMatchObject({ revoked: false, problem: expect.stringContaining('another authorization server') });
    expect([server.count('/revoke'), existsSync(oauth.place.path)]).toEqual([0, false]);
  });

  test('N-01 who signs out waits for the process that holds the lock, and changes nothing before', async () => {
    await signInAsPerson(here());
    const file = await fileOf();
    const before = file.read();
    const { url, oauth } = await targetOf(here());
    const waiting: Promise<unknown>[] = [];
    await file.lock(async () => {
      waiting.push(signOut(url, oauth, new AbortController().signal));
      await Bun.sleep(40);
      expect([file.read(), server.count('/revoke')]).toEqual([before, 0]);
    });
    await Promise.all(waiting);
    expect(existsSync(oauth.place.path)).toBe(false);
  });

  test('N-01 who gives up changes nothing', async () => {
    await signInAsPerson(here());
    const before = (await fileOf()).read();
    const leaving = new AbortController();
    const given = signInAsPerson(here(), async () => leaving.abort(new Error('gone')), leaving.signal);
    expect(given).rejects.toThrow('gone');
    expect((await fileOf()).read()).toEqual(before);
    expect(describeSignIn(before)).toMatchObject({ signedIn: true, renewable: true });
    const { refresh_token: _, ...access } = before.tokens ?? { access_token: '', token_type: '' };
    const later = Date.now() + 3_600_000;
    expect(describeSignIn({ ...before, tokens: access }, later)).toMatchObject({ signedIn: false, renewable: false });
    expect(describeSignIn(before, later)).toMatchObject({ signedIn: true, renewable: true });
  });
});

/**
 * For tests: an MCP server of 2026 that needs a sign-in, with its authorization server at the same address. It repeats the
 * secrets that it gets wherever a server can put a text. It remembers every secret that it gave or got.
 */
import { createHash, randomBytes } from 'node:crypto';

export interface GuardedOptions {
  /** Replaces the answer at a path, for example with garbage. */
  readonly answers?: Readonly<Record<string, () => Response>>;
  /** Called before a token request is looked at. */
  readonly beforeTokens?: () => Promise<void>;
  /** Called before the answer to a token request is sent, when its code or refresh token was used up. */
  readonly afterTokens?: () => Promise<void>;
  /** Fields of the metadata of the authorization server that are replaced. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

interface Grant {
  readonly scope: string;
  readonly challenge: string;
}

export class GuardedServer {
  /** Every secret so far, by its kind. */
  readonly secrets = new Map<string, string>();
  /** The number of requests for each path, and of each grant. */
  readonly counts = new Map<string, number>();
  /** The scopes of each authorization request. */
  readonly asked: string[] = [];
  readonly #codes = new Map<string, Grant>();
  readonly #access = new Map<string, string>();
  readonly #refresh = new Map<string, string>();
  readonly #server: Bun.Server<undefined>;

  constructor(private options: GuardedOptions = {}) {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** Changes the behaviour from now on. */
  become(options: GuardedOptions): void {
    this.options = options;
  }

  /** Makes all access tokens invalid, so that clients must refresh. */
  expireAccess(): void {
    this.#access.clear();
  }

  /** Ends all tokens, so that a person has to sign in again. */
  expireAll(): void {
    this.expireAccess();
    this.expireRefresh();
  }

  expireRefresh(): void {
    this.#refresh.clear();
  }

  count(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    this.#tick(pathname);
    const replaced = this.options.answers?.[pathname]?.();
    if (replaced !== undefined) return replaced;
    switch (pathname) {
      case '/mcp':
        return this.#serve(request);
      case '/.well-known/oauth-protected-resource/mcp':
        return Response.json({ resource: this.url, authorization_servers: [this.origin] });
      case '/.well-known/oauth-authorization-server':
        return Response.json(this.#metadata());
      case '/register':
        // The cast is safe: the client is ours.
        return this.#register((await request.json()) as object);
      case '/authorize':
        return this.#authorize(new URL(request.url).searchParams);
      case '/token':
        return this.#answerToken(new URLSearchParams(await request.text()), request.headers);
      case '/revoke':
        return this.#revoke(new URLSearchParams(await request.text()));
      default:
        return new Response(null, { status: 404 });
    }
  }

  #metadata() {
    const at = (path: string) => `${this.origin}${path}`;
    return {
      issuer: this.origin,
      authorization_endpoint: at('/authorize'),
      token_endpoint: at('/token'),
      registration_endpoint: at('/register'),
      revocation_endpoint: at('/revoke'),
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
      ...this.options.metadata,
    };
  }

  #register(metadata: object): Response {
    const secret = this.#newSecret('client secret');
    return Response.json(
      { ...metadata, client_id: `client-${this.count('/register')}`, client_secret: secret },
      { status: 201 },
    );
  }

  #authorize(params: URLSearchParams): Response {
    const {
      scope = '',
      redirect_uri: back = '',
      state = '',
      code_challenge: challenge = '',
    } = Object.fromEntries(params);
    this.asked.push(scope);
    const code = this.#newSecret('code');
    this.#codes.set(code, { scope, challenge });
    const target = new URL(back);
    target.search = String(new URLSearchParams({ code, state, iss: this.origin }));
    return Response.redirect(target.href, 302);
  }

  async #answerToken(params: URLSearchParams, headers: Headers): Promise<Response> {
    const { beforeTokens, afterTokens } = this.options;
    this.#tick(params.get('grant_type') ?? '');
    this.#keep('authorization header', headers.get('authorization')?.split(' ')[1]);
    await beforeTokens?.();
    const answer = this.#token(params);
    await afterTokens?.();
    return answer;
  }

  #token(params: URLSearchParams): Response {
    const {
      grant_type: grant = '',
      code = '',
      code_verifier: verifier = '',
      refresh_token: old = '',
      scope = '',
    } = Object.fromEntries(params);
    if (grant === 'client_credentials') return this.#tokens(scope, false);
    if (grant === 'refresh_token') {
      const granted = this.#refresh.get(old);
      // A refresh token can be used once.
      if (!this.#refresh.delete(old) || granted === undefined) return this.#refuse(`unknown ${old}`);
      return this.#tokens(granted);
    }
    const given = this.#codes.get(code);
    this.#keep('verifier', verifier);
    const isProven = createHash('sha256').update(verifier).digest('base64url') === given?.challenge;
    if (given === undefined || !isProven) return this.#refuse(`wrong ${code} ${verifier}`);
    this.#codes.delete(code);
    return this.#tokens(given.scope);
  }

  #tokens(scope: string, hasRefresh = true): Response {
    const access = this.#newSecret('access token');
    const refresh = this.#newSecret('refresh token');
    this.#access.set(access, scope);
    if (hasRefresh) this.#refresh.set(refresh, scope);
    return Response.json({
      access_token: access,
      token_type: 'Bearer',
      expires_in: 3_600,
      scope,
      ...(hasRefresh ? { refresh_token: refresh, id_token: this.#newSecret('id token') } : {}),
    });
  }

  #refuse(text: string): Response {
    return Response.json({ error: 'invalid_grant', error_description: text }, { status: 400 });
  }

  #revoke(params: URLSearchParams): Response {
    const token = params.get('token') ?? '';
    this.#access.delete(token);
    this.#refresh.delete(token);
    return new Response(null, { status: 200 });
  }

  async #serve(request: Request): Promise<Response> {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
    const scopes = this.#access.get(token)?.split(' ');
    // The cast is safe: the client is ours.
    const { id, method, params } = (await request.json()) as { id?: number; method: string; params: { name?: string } };
    if (scopes === undefined) return this.#challenge(401, 'read', 'invalid_token');
    if (params.name === 'write' && !scopes.includes('write'))
      return this.#challenge(403, 'write', 'insufficient_scope');
    if (id === undefined) return new Response(null, { status: 202 });
    const answer = (result: object) =>
      Response.json({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } });
    const cache = { ttlMs: 0, cacheScope: 'private' };
    if (method === 'server/discover') {
      const about = { supportedVersions: ['2026-07-28'], serverInfo: { name: 'guarded', version: '1' } };
      return answer({ ...cache, ...about, capabilities: { tools: {} } });
    }
    if (method === 'tools/list') {
      const tools = ['look', 'write', 'fail'].map((name) => ({
        name,
        description: `The tool ${name}, called with ${token}.`,
        inputSchema: { type: 'object' },
      }));
      return answer({ ...cache, tools });
    }
    if (params.name === 'break')
      return Response.json({ jsonrpc: '2.0', id, error: { code: -32_000, message: `broken ${token}` } });
    const text = `${params.name} with ${token}`;
    return answer({ content: [{ type: 'text', text }], isError: params.name === 'fail' });
  }

  #challenge(status: number, scope: string, error: string): Response {
    const metadata = `${this.origin}/.well-known/oauth-protected-resource/mcp`;
    const header = `Bearer error="${error}", scope="${scope}", resource_metadata="${metadata}"`;
    return Response.json({ error }, { status, headers: { 'www-authenticate': header } });
  }

  #newSecret(kind: string): string {
    const secret = `${kind.replaceAll(' ', '-')}-${randomBytes(18).toString('base64url')}`;
    this.#keep(kind, secret);
    return secret;
  }

  #keep(kind: string, secret: string | undefined): void {
    if (secret === undefined || [...this.secrets.values()].includes(secret)) return;
    this.secrets.set(`${kind} ${this.secrets.size + 1}`, secret);
  }

  #tick(what: string): void {
    this.counts.set(what, this.count(what) + 1);
  }
}

/** A client that uses the SDK. */
import { join } from 'node:path';
import { GoondanError, type JsonObject } from '@goondan/types';
import { findExcess } from './bounded-response.ts';
import { systemClock } from './clock.ts';
import type {
  AskOptions,
  ClientEvents,
  LastWords,
  ListedTool,
  McpClient,
  ServerAbilities,
  ToolReply,
} from './mcp-client.ts';
import { completeResults } from './complete-results.ts';
import { fetchSameOrigin } from './fetch-same-origin.ts';
import { McpFailure } from './mcp-failure.ts';
import { OpenCalls } from './open-calls.ts';
import { reportSeldom } from './report-seldom.ts';
import { loadSdk, type Sdk, type SdkClient } from './sdk.ts';
import { MOST_ROUNDS, questionCapabilities, refusal, ServedQuestions } from './serve-questions.ts';
import { ServerProcess } from './server-process.ts';
import { hasToken, type ServerTarget } from './server-target.ts';
import { CLEAR_TEXT, keepsSecrets } from './sign-in/clear-text.ts';
import { ServerSignIn } from './sign-in/server-sign-in.ts';
import { spacedStreams } from './spaced-streams.ts';

/** The maximum number of pages of a list that are read. */
const MOST_PAGES = 32;
/** The maximum time to wait when ending the session of a server over HTTP. */
const GOODBYE_MS = 1_000;

export interface ClientDeps {
  /** Called with each line that the server process prints, apart from protocol messages. */
  readonly onServerLine: (line: string) => void;
  /** Called with the tokens of a sign-in, which must not be shown. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

export async function openClient(events: ClientEvents, deps: ClientDeps): Promise<McpClient> {
  const sdk = await loadSdk();
  const { version }: { version: string } = await Bun.file(join(import.meta.dir, '../../../package.json')).json();
  return new SupervisedClient(sdk, version, events, deps);
}

class SupervisedClient implements McpClient {
  readonly #calls = new OpenCalls(systemClock);
  readonly #questions: ServedQuestions;
  #client: SdkClient;
  #process: ServerProcess<never> | undefined;
  /** The previous process, when none is running. */
  #lastProcess: ServerProcess<never> | undefined;
  #signIn: ServerSignIn | undefined;
  /** True if the server has no sign-in, because its tokens would travel in clear text. */
  #isClear = false;
  #isOpen = false;
  /** What the server sent too much of, if the connection is closed for that. */
  #excess: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly sdk: Sdk,
    private readonly version: string,
    private readonly events: ClientEvents,
    private readonly deps: ClientDeps,
  ) {
    const onRefused = reportSeldom((problem) => events.onRefused(problem), systemClock);
    this.#questions = new ServedQuestions({ sdk, calls: this.#calls, onRefused });
    this.#client = this.#newClient('legacy');
  }

  async connect(target: ServerTarget, options: AskOptions): Promise<ServerAbilities> {
    await this.close();
    this.#calls.reset();
    this.#excess = undefined;
    this.#signIn = this.#openSignIn(target);
    this.#isClear = target.type === 'http' && !keepsSecrets(target.url) && !hasToken(target.headers);
    try {
      await this.#withScopes(() => {
        // Each attempt uses a new SDK client. After a transport failed to start, an SDK client keeps it and rejects the
        // next transport.
        this.#client = this.#newClient(target.protocol);
        const client = this.#client;
        const transport = completeResults(this.#openTransport(target), () => client.getProtocolEra() === 'modern');
        return client.connect(transport, toRequest(options));
      });
    } catch (error) {
      // Waits for the process to exit, because its last output explains the failure and is complete only then.
      await this.#process?.close();
      const failure = nothingBegun(this.#toFailure(error, options));
      await this.close();
      throw failure;
    }
    this.#isOpen = true;
    this.#watchSubscription();
    const { tools, resources, prompts } = this.#client.getServerCapabilities() ?? {};
    return { tools: tools !== undefined, resources: resources !== undefined, prompts: prompts !== undefined };
  }

  async listTools(options: AskOptions): Promise<readonly ListedTool[]> {
    try {
      const list = () => this.#client.listTools({}, { ...toRequest(options), cacheMode: 'refresh' });
      const { tools } = await this.#withScopes(list);
      // The cast is safe: the SDK has checked the shape, and `ListedTool` declares only the fields used here.
      return this.#withoutTokens(tools as unknown as ListedTool[]);
    } catch (error) {
      throw nothingBegun(this.#toFailure(error, options));
    }
  }

  callTool(name: string, args: JsonObject, options: AskOptions): Promise<ToolReply> {
    return this.#ask(options, async (request) => {
      const { traceparent } = options;
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } };
      const reply = await this.#client.callTool({ name, arguments: args, ...meta }, request);
      return reply as unknown as ToolReply;
    });
  }

  listResources(options: AskOptions): Promise<JsonObject> {
    return this.#ask(options, async (request) => {
      const { resources } = await this.#client.listResources({}, { ...request, cacheMode: 'refresh' });
      const { resourceTemplates } = await this.#client.listResourceTemplates({}, { ...request, cacheMode: 'refresh' });
      return { resources, resourceTemplates } as unknown as JsonObject;
    });
  }

  readResource(uri: string, options: AskOptions): Promise<JsonObject> {
    return this.#ask(options, async (request) => {
      return (await this.#client.readResource({ uri }, { ...request, cacheMode: 'bypass' })) as unknown as JsonObject;
    });
  }

  listPrompts(options: AskOptions): Promise<JsonObject> {
    return this.#ask(options, async (request) => {
      const { prompts } = await this.#client.listPrompts({}, { ...request, cacheMode: 'refresh' });
      return { prompts } as unknown as JsonObject;
    });
  }

  getPrompt(name: string, args: Readonly<Record<string, string>>, options: AskOptions): Promise<JsonObject> {
    return this.#ask(options, async (request) => {
      return (await this.#client.getPrompt({ name, arguments: { ...args } }, request)) as unknown as JsonObject;
    });
  }

  /**
   * Closes the connection. A second call joins a running close, because otherwise it would close a newer connection.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => void (this.#closing = undefined));
    return this.#closing;
  }

  async #close(): Promise<void> {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    const { transport } = this.#client;
    if (wasOpen && transport instanceof this.sdk.StreamableHTTPClientTransport) {
      const late = Bun.sleep(GOODBYE_MS);
      await Promise.race([transport.terminateSession().catch(() => undefined), late]);
    }
    await this.#client.close().catch(() => undefined);
    // Closes the process as well, because the SDK closes only a completed connection.
    await this.#process?.close();
    this.#lastProcess = this.#process ?? this.#lastProcess;
    this.#process = undefined;
  }

  lastWords(): LastWords {
    return (this.#process ?? this.#lastProcess)?.end ?? nothingSaid;
  }

  #newClient(mode: ServerTarget['protocol']): SdkClient {
    const onChanged = () => this.#isOpen && client === this.#client && this.events.onToolsChanged();
    const client = new this.sdk.Client(
      { name: 'goondan', version: this.version },
      {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
        listMaxPages: MOST_PAGES,
        versionNegotiation: { mode },
        capabilities: questionCapabilities,
        inputRequired: { maxRounds: MOST_ROUNDS },
      },
    );
    this.#questions.serve(client);
    client.onclose = () => {
      if (!this.#isOpen || client !== this.#client) return;
      this.#isOpen = false;
      this.events.onClosed();
    };
    client.onerror = (error) => {
      if (client !== this.#client) return;
      const excess = findExcess(error);
      this.#excess ??= excess;
      if (!this.#isOpen) return;
      this.events.onTrouble(error.message);
      // The rest of the stream is lost, and with it the answers of the calls that wait for it.
      if (excess !== undefined) void client.close().catch(() => undefined);
    };
    return client;
  }

  #openTransport(target: ServerTarget) {
    if (target.type === 'http') {
      const signIn = this.#signIn;
      return new this.sdk.StreamableHTTPClientTransport(new URL(target.url), {
        requestInit: { headers: { ...target.headers } },
        fetch: spacedStreams(signIn?.fetch ?? fetchSameOrigin, systemClock),
        ...(signIn === undefined ? {} : { authProvider: signIn.authProvider }),
      });
    }
    const opened = new ServerProcess(target, this.sdk.deserializeMessage, this.deps.onServerLine);
    // The cast is safe: only the SDK reads the messages.
    this.#process = opened as unknown as ServerProcess<never>;
    return opened;
  }

  /** In protocol versions since 2026, a server reports changes on a separate stream, which may end by itself. */
  #watchSubscription(): void {
    const subscription = this.#client.autoOpenedSubscription;
    void subscription?.closed.then((reason) => {
      if (reason === 'local' || this.#client.autoOpenedSubscription !== subscription) return;
      this.#client.onerror?.(new Error('the server ended the stream of its changes'));
    });
  }

  async #ask<Value>(options: AskOptions, work: (request: ReturnType<typeof toRequest>) => Promise<Value>) {
    try {
      const ask = (bounded: AskOptions) => this.#questions.afterPages(() => work(toRequest(bounded)));
      return this.#withoutTokens(await this.#withScopes(() => this.#calls.run(options, ask)));
    } catch (error) {
      throw this.#toFailure(error, options);
    }
  }

  #openSignIn(target: ServerTarget): ServerSignIn | undefined {
    if (target.type !== 'http' || target.oauth === undefined) return undefined;
    const { onSecrets } = this.deps;
    const { url, oauth } = target;
    return new ServerSignIn({ sdk: this.sdk, url, oauth, onSecrets });
  }

  /** Runs a request, and once more if the server demanded more scopes and got them. */
  async #withScopes<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      const signIn = this.#signIn;
      if (signIn === undefined || !this.sdk.InsufficientScopeError.isInstance(error)) throw error;
      await signIn.stepUp(error.requiredScope, error.resourceMetadataUrl);
      return work();
    }
  }

  /** Removes the tokens of the sign-in from an answer, because a server may repeat the headers of a request. */
  #withoutTokens<Value>(answer: Value): Value {
    const signIn = this.#signIn;
    if (signIn?.hasSecrets !== true) return answer;
    const text = JSON.stringify(answer);
    const hidden = signIn.hide(text);
    // The cast is safe: only texts changed.
    return hidden === text ? answer : (JSON.parse(hidden) as Value);
  }

  #toFailure(thrown: unknown, { signal, timeoutMs }: AskOptions): unknown {
    if (signal?.aborted) return signal.reason;
    if (thrown instanceof McpFailure || GoondanError.is(thrown)) return thrown;
    const { SdkError, SdkHttpError, ProtocolError } = this.sdk;
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    const message = this.#signIn?.hide(said) ?? said;
    const failed = (kind: McpFailure['kind'], problem = message) =>
      new McpFailure(kind, `${problem}${/[.!?]$/.test(problem) ? '' : '.'}${this.#lastWords(kind)}`, thrown);
    const isClosed = SdkError.isInstance(thrown) && thrown.code === this.sdk.SdkErrorCode.ConnectionClosed;
    const excess = findExcess(thrown) ?? (isClosed ? this.#excess : undefined);
    if (excess !== undefined) return failed('excess', excess);
    if (this.sdk.InsufficientScopeError.isInstance(thrown)) {
      return failed('refused', `it demands the scopes "${thrown.requiredScope ?? ''}", although they were granted.`);
    }
    if (SdkHttpError.isInstance(thrown)) {
      const { status } = thrown;
      const isLost = (status === 400 || status === 404) && this.#client.transport?.sessionId !== undefined;
      if (isLost) return failed('session-lost', 'it has lost this session.');
      if (status === 401 && this.#signIn !== undefined) return failed('sign-in', 'it rejected the new tokens.');
      if (status === 401 && this.#isClear) return failed('refused', `it demands a sign-in, but ${CLEAR_TEXT}.`);
      if (status === 401 || status === 403) return failed('refused', `it rejected the credentials (HTTP ${status}).`);
      return failed(status !== undefined && status < 500 ? 'refused' : 'broken');
    }
    if (SdkError.isInstance(thrown)) {
      const { SdkErrorCode } = this.sdk;
      if (thrown.code === SdkErrorCode.RequestTimeout) return failed('timeout', `no answer within ${timeoutMs} ms.`);
      if (thrown.code === SdkErrorCode.NotConnected) return failed('unreached', 'it is not connected.');
      if (isClosed) return failed('broken', 'the connection was closed.');
      if (thrown.code === SdkErrorCode.CapabilityNotSupported) return failed('unsupported', refusal(thrown.data));
      if (thrown.code === SdkErrorCode.SendFailed) return failed('broken');
      if (thrown.code === SdkErrorCode.EraNegotiationFailed) return failed('unreached');
      if (thrown.code === SdkErrorCode.InputRequiredRoundsExceeded)
        return failed('question', `it still asked after ${MOST_ROUNDS} answers.`);
      return failed('refused');
    }
    // The server needs something that this client does not declare.
    if (this.sdk.MissingRequiredClientCapabilityError.isInstance(thrown)) return failed('unsupported');
    if (ProtocolError.isInstance(thrown)) return failed('refused');
    return failed(neverArrived.has(codeOf(thrown)) ? 'unreached' : 'broken');
  }

  /** Returns the reason why a server process exited, if its output contains one. */
  #lastWords(kind: McpFailure['kind']): string {
    const said = kind === 'broken' || kind === 'unreached' ? this.#process?.lastWords() : undefined;
    return said === undefined || said === '' ? '' : ` ${said}`;
  }
}

const nothingSaid: LastWords = { exit: '', lines: [] };

/** System error codes that mean the request reached no receiver. */
const neverArrived: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'FailedToOpenSocket',
  'ENOENT',
  'EACCES',
]);

/**
 * Turns `broken` into `unreached` for a request without side effects, because such a request can always be repeated.
 */
function nothingBegun(failure: unknown): unknown {
  if (!(failure instanceof McpFailure) || failure.kind !== 'broken') return failure;
  return new McpFailure('unreached', failure.message, failure.cause);
}

function codeOf(thrown: unknown): string {
  const code: unknown = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : '';
}

function toRequest({ timeoutMs, signal, onProgress }: AskOptions) {
  return {
    timeout: timeoutMs,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : progress(onProgress)),
  };
}

function progress(onProgress: (said: string) => void) {
  return {
    resetTimeoutOnProgress: true,
    onprogress(told: { progress: number; total?: number | undefined; message?: string | undefined }): void {
      const { progress: done, total, message } = told;
      onProgress(message ?? (total === undefined ? String(done) : `${done} of ${total}`));
    },
  };
}

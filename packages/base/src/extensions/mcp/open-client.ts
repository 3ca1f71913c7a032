/**
 * A client that uses the SDK. The SDK is imported only when the first server is opened, because its import takes a
 * tenth of a second.
 */
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import type {
  AskOptions,
  ClientEvents,
  LastWords,
  ListedTool,
  McpClient,
  ServerAbilities,
  ToolReply,
} from './mcp-client.ts';
import { McpFailure } from './mcp-failure.ts';
import { ServerProcess } from './server-process.ts';
import type { ServerTarget } from './server-target.ts';

type Sdk = typeof import('@modelcontextprotocol/client');
type SdkClient = InstanceType<Sdk['Client']>;

/** The maximum number of pages of a list that are read. */
const MOST_PAGES = 32;
/** The maximum time to wait when ending the session of a server over HTTP. */
const GOODBYE_MS = 1_000;

/**
 * Opens a client. `onServerLine` is called with each line that the server process prints, apart from protocol messages.
 */
export async function openClient(events: ClientEvents, onServerLine: (line: string) => void): Promise<McpClient> {
  const sdk = await import('@modelcontextprotocol/client');
  const { version }: { version: string } = await Bun.file(join(import.meta.dir, '../../../package.json')).json();
  return new SupervisedClient(sdk, version, events, onServerLine);
}

class SupervisedClient implements McpClient {
  #client: SdkClient;
  #process: ServerProcess<never> | undefined;
  /** The previous process, when none is running. */
  #lastProcess: ServerProcess<never> | undefined;
  #isOpen = false;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly sdk: Sdk,
    private readonly version: string,
    private readonly events: ClientEvents,
    private readonly onServerLine: (line: string) => void,
  ) {
    this.#client = this.#newClient('legacy');
  }

  async connect(target: ServerTarget, options: AskOptions): Promise<ServerAbilities> {
    await this.close();
    // Each attempt uses a new SDK client. After a transport failed to start, an SDK client keeps it and rejects the
    // next transport.
    this.#client = this.#newClient(target.protocol);
    try {
      await this.#client.connect(this.#openTransport(target), toRequest(options));
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
      const { tools } = await this.#client.listTools({}, { ...toRequest(options), cacheMode: 'refresh' });
      // The cast is safe: the SDK has checked the shape, and `ListedTool` declares only the fields used here.
      return tools as unknown as ListedTool[];
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
      },
    );
    client.onclose = () => {
      if (!this.#isOpen || client !== this.#client) return;
      this.#isOpen = false;
      this.events.onClosed();
    };
    client.onerror = (error) => {
      if (this.#isOpen && client === this.#client) this.events.onTrouble(error.message);
    };
    return client;
  }

  #openTransport(target: ServerTarget) {
    if (target.type === 'http') {
      return new this.sdk.StreamableHTTPClientTransport(new URL(target.url), {
        requestInit: { headers: { ...target.headers } },
      });
    }
    const opened = new ServerProcess(target, this.sdk.deserializeMessage, this.onServerLine);
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
      return await work(toRequest(options));
    } catch (error) {
      throw this.#toFailure(error, options);
    }
  }

  #toFailure(thrown: unknown, { signal, timeoutMs }: AskOptions): unknown {
    if (signal?.aborted) return signal.reason;
    const { SdkError, SdkHttpError, ProtocolError } = this.sdk;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const failed = (kind: McpFailure['kind'], said = message) =>
      new McpFailure(kind, `${said}${/[.!?]$/.test(said) ? '' : '.'}${this.#lastWords(kind)}`, thrown);
    if (SdkHttpError.isInstance(thrown)) {
      const { status } = thrown;
      const isLost = (status === 400 || status === 404) && this.#client.transport?.sessionId !== undefined;
      if (isLost) return failed('session-lost', 'it has lost this session.');
      if (status === 401 || status === 403) return failed('refused', `it rejected the credentials (HTTP ${status}).`);
      return failed(status !== undefined && status < 500 ? 'refused' : 'broken');
    }
    if (SdkError.isInstance(thrown)) {
      const { SdkErrorCode } = this.sdk;
      if (thrown.code === SdkErrorCode.RequestTimeout) return failed('timeout', `no answer within ${timeoutMs} ms.`);
      if (thrown.code === SdkErrorCode.NotConnected) return failed('unreached', 'it is not connected.');
      if (thrown.code === SdkErrorCode.ConnectionClosed) return failed('broken', 'the connection was closed.');
      if (thrown.code === SdkErrorCode.SendFailed) return failed('broken');
      if (thrown.code === SdkErrorCode.EraNegotiationFailed) return failed('unreached');
      return failed('refused');
    }
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

/**
 * The server of a keeper, for any number of callers. `Connection` supervises it: after a break, it is started again in
 * the background.
 *
 * 1. Calls of different callers are independent. The SDK gives each its own id at the server, so answers, progress and
 *    cancellation reach the caller that made the call.
 * 2. A request is never repeated here. The caller decides that, as if it were connected to the server itself.
 * 3. The address of the server is read again with each `connect`. Another address is another server.
 */
import type { ExtensionStatus, JsonObject, JsonValue } from '@goondan/types';
import type { Clock } from './clock.ts';
import { Connection } from './connection.ts';
import type { KeptRequest } from './kept-frames.ts';
import type { AskOptions, ClientEvents, LastWords, McpClient, ServerAbilities } from './mcp-client.ts';
import { McpFailure } from './mcp-failure.ts';
import type { McpSettings } from './mcp-settings.ts';
import { resolveTarget, type Surroundings } from './resolve-target.ts';
import { ServerHealth } from './server-health.ts';

export interface KeptServerDeps {
  readonly clock: Clock;
  readonly logger: Pick<Console, 'info' | 'warn' | 'debug'>;
  readonly around: () => Surroundings;
  readonly openClient: (events: ClientEvents) => Promise<McpClient>;
  readonly report: (status: ExtensionStatus) => void;
  /** Called when the tool list of the server changed, and when the server is no longer connected. */
  readonly tell: (event: 'toolsChanged' | 'closed', lastWords: LastWords) => void;
}

export class KeptServer {
  readonly #connection: Connection;
  /** The time limits of the newest caller. */
  readonly #timeouts: { connectMs: number; listMs: number; callMs: number };
  #client: McpClient | undefined;
  #events: ClientEvents | undefined;
  #abilities: ServerAbilities = { tools: false, resources: false, prompts: false };
  #wasConnected = false;
  /** The number of connections so far. */
  #connections = 0;

  constructor(
    name: string,
    private readonly settings: McpSettings,
    private readonly deps: KeptServerDeps,
  ) {
    this.#timeouts = { ...settings.timeouts };
    const { clock, logger } = deps;
    const health = new ServerHealth((status) => this.#takeStatus(status));
    const connection = new Connection(
      name,
      { timeouts: this.#timeouts, mode: 'stateful' },
      {
        clock,
        logger,
        health,
        open: (events) => this.#open(events),
        onListed: async (tools, abilities) => {
          this.#abilities = abilities;
          health.offers(
            tools.map((tool) => tool.name),
            [],
          );
        },
      },
    );
    this.#connection = connection;
    health.begin();
  }

  /** Carries out a request. **Errors** — a `McpFailure`, or a `GoondanError` if the server cannot be connected. */
  async run(request: KeptRequest, options: AskOptions): Promise<JsonValue> {
    if (request.method === 'connect') return this.#connect(options);
    const client = this.#client;
    if (client === undefined || !this.#connection.isConnected)
      throw new McpFailure('unreached', 'it is not connected.');
    const connection = this.#connections;
    try {
      return await ask(client, request, options);
    } catch (error) {
      // A moment later, so that the caller gets this failure before it is told that the server is lost.
      if (error instanceof McpFailure && error.endsConnection) this.deps.clock.after(0, () => this.#lose(connection));
      throw error;
    }
  }

  /** Connects the server again, because nobody can use this connection any more. Ignored after a new connection. */
  #lose(connection: number): void {
    if (connection === this.#connections) this.#events?.onClosed();
  }

  lastWords(): LastWords {
    return this.#client?.lastWords() ?? { exit: '', lines: [] };
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #connect({ timeoutMs, signal }: AskOptions): Promise<JsonObject> {
    this.#timeouts.connectMs = timeoutMs;
    await this.#connection.aim(await resolveTarget(this.settings, this.deps.around()));
    await this.#connection.need(signal);
    return { ...this.#abilities };
  }

  async #open(events: ClientEvents): Promise<McpClient> {
    this.#events = events;
    this.#client = await this.deps.openClient({
      ...events,
      onToolsChanged: () => {
        events.onToolsChanged();
        this.deps.tell('toolsChanged', this.lastWords());
      },
    });
    return this.#client;
  }

  #takeStatus(status: ExtensionStatus): void {
    const isConnected = status.state === 'connected';
    const isLost = this.#wasConnected && !isConnected;
    if (isConnected && !this.#wasConnected) this.#connections += 1;
    this.#wasConnected = isConnected;
    this.deps.report(status);
    if (isLost) this.deps.tell('closed', this.lastWords());
  }
}

async function ask(client: McpClient, { method, name, args }: KeptRequest, options: AskOptions): Promise<JsonValue> {
  switch (method) {
    case 'listTools':
      // The casts are safe: tools and replies of a server are JSON.
      return (await client.listTools(options)) as unknown as JsonValue;
    case 'callTool':
      return (await client.callTool(name, args, options)) as unknown as JsonValue;
    case 'listResources':
      return client.listResources(options);
    case 'readResource':
      return client.readResource(name, options);
    case 'listPrompts':
      return client.listPrompts(options);
    case 'getPrompt':
      return client.getPrompt(name, texts(args), options);
    case 'connect':
      throw new McpFailure('refused', 'connect is no request to a server.');
  }
}

function texts(args: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );
}

/**
 * A server inside an agent: connects when a turn begins, offers its tools, and keeps or closes the connection at the
 * end of the turn. If the server does not answer, the agent continues without its tools, unless the server is required.
 */
import {
  type ExtensionApi,
  type ExtensionToolsApi,
  GoondanError,
  type JsonObject,
  type JsonValue,
  type StepMiddlewareContext,
  type StepResult,
  type ToolCatalogItem,
  type ToolContext,
  type TurnMiddlewareContext,
  type TurnResult,
} from '@goondan/types';
import { approvedOf, readApprovalsFile } from './approvals-file.ts';
import { cleanText } from '../../text/clean-text.ts';
import type { Clock } from './clock.ts';
import { Connection } from './connection.ts';
import type { ClientEvents, ListedTool, McpClient, ServerAbilities } from './mcp-client.ts';
import type { McpSettings } from './mcp-settings.ts';
import { resolveTarget } from './resolve-target.ts';
import type { Environment } from '../../process-tree/child-environment.ts';
import type { ServerTarget } from './server-target.ts';
import { secretsIn } from './sign-in/sign-in-file.ts';
import { registerSharedTools, sharedNames } from './shared-tools.ts';
import { answerQuestions } from './server-questions.ts';
import { ServerHealth } from './server-health.ts';
import { readSeen, toState } from './tool-memory.ts';
import { ToolNames } from './tool-names.ts';
import { ToolOffer } from './tool-offer.ts';
import { textOf, toOutput, withNotes } from './tool-result.ts';

export interface ServerDeps {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly openClient: (events: ClientEvents) => Promise<McpClient>;
  /** Lets a person sign in while a call waits. Without it, and if it returns false, the call fails. */
  readonly signIn?: SignInDuringCall;
}

/** `why`: the words for the person. `target`: the server, for `signInPerson`. Returns true if the person has signed in. */
export type SignInDuringCall = (why: string, target: ServerTarget, ctx: ToolContext) => Promise<boolean>;

export class McpServer {
  readonly #health: ServerHealth;
  readonly #connection: Connection;
  readonly #offer: ToolOffer;
  /** The registered tools by name. */
  readonly #items = new Map<string, ToolCatalogItem>();
  readonly #tools: ExtensionToolsApi = {
    register: (item, handler, options) => {
      this.api.tools.register(item, handler, options);
      this.#items.set(item.name, item);
    },
  };
  #bundleFolder = '.';
  #target: ServerTarget | undefined;
  /** True if this part has begun a turn itself. False for a part that was put in place in the middle of its first turn. */
  #hasBegun = false;
  #sharedTools: readonly string[] = [];
  #hasConnected = false;
  #ending: Promise<void> = Promise.resolve();

  constructor(
    private readonly name: string,
    private readonly settings: McpSettings,
    private readonly api: ExtensionApi,
    private readonly deps: ServerDeps,
  ) {
    const { logger, events } = api;
    this.#health = new ServerHealth((status) => events.emit('extension.status', status));
    this.#connection = new Connection(name, settings, {
      clock: deps.clock,
      logger,
      health: this.#health,
      isKept: settings.keeper !== undefined,
      open: deps.openClient,
      onListed: (listed, abilities) => this.#takeList(listed, abilities),
    });
    this.#offer = new ToolOffer({
      extension: name,
      tools: this.#tools,
      names: new ToolNames(name, sharedNames(settings)),
      logger,
      call: (tool, ctx, input) => this.#call(tool, ctx, input),
    });
    this.#health.begin();
  }

  async aroundTurn(ctx: TurnMiddlewareContext): Promise<TurnResult> {
    this.#hasBegun = true;
    try {
      await this.#beginTurn(ctx);
      await this.#save();
      return await ctx.next();
    } finally {
      await this.#save();
      // The release is not awaited here. The next connection waits until this one is closed.
      if (this.settings.mode === 'stateless') this.#ending = this.#connection.release();
    }
  }

  async aroundStep(ctx: StepMiddlewareContext): Promise<StepResult> {
    if (this.#hasBegun) return this.#runStep(ctx);
    await this.#joinTurn(ctx);
    try {
      return await this.#runStep(ctx);
    } finally {
      // No turn layer of this part sees the end of the turn.
      if (this.settings.mode === 'stateless') this.#ending = this.#connection.release();
    }
  }

  /** Begins in the middle of a turn, because a reload has put this part in place. Its tools are offered at once. */
  async #joinTurn(ctx: StepMiddlewareContext): Promise<void> {
    const known = new Set(this.#items.keys());
    await this.#beginTurn(ctx);
    // Known tools are in the catalog of this step already, unless an outer layer has removed them.
    const added = [...this.#items.values()].filter(({ name }) => !known.has(name));
    if (added.length > 0) ctx.toolCatalog = [...ctx.toolCatalog, ...added];
  }

  async #runStep(ctx: StepMiddlewareContext): Promise<StepResult> {
    // Reads the catalog only when a tool must be hidden, because reading it makes a copy.
    if (this.#offer.hidesAny) ctx.toolCatalog = ctx.toolCatalog.filter(({ name }) => !this.#offer.hides(name));
    const result = await ctx.next();
    // A tool call may have changed the tool list, and the next step must see the new list.
    await this.#connection.settled();
    return result;
  }

  async close(): Promise<void> {
    await this.#ending;
    await this.#connection.close();
  }

  async #beginTurn({
    bundleFolder,
    workdir,
    signal,
  }: Pick<TurnMiddlewareContext, 'bundleFolder' | 'workdir' | 'signal'>): Promise<void> {
    const { required } = this.settings;
    this.#bundleFolder = bundleFolder;
    await this.#ending;
    try {
      this.#offer.remember(readSeen(await this.api.state.get()));
      const { environment } = this.deps;
      const target = await resolveTarget(this.settings, { bundleFolder, workdir, environment });
      this.#target = target;
      this.#maskSignIn(target);
      await this.#connection.aim(target);
      if (this.#connection.isConnected) return await this.#reconsider();
      if (required || this.#mustWait()) return await this.#connection.need(signal);
      if (this.settings.mode === 'stateful') this.#connection.wake();
    } catch (error) {
      if (GoondanError.is(error) && isDeclaration(error)) {
        this.#health.failed(`${error.message} (${error.code})`, { exit: '', lines: [] });
      }
      // If the turn was cancelled or exceeded its deadline, the turn itself reports the reason.
      if (required || signal.aborted || !GoondanError.is(error)) throw error;
      this.api.logger.warn(`mcp.failed: ${error.message} (${error.code}) The turn continues without it.`);
    }
  }

  /** Masks the tokens that a keeper uses. A client in this process names its tokens itself. */
  #maskSignIn(target: ServerTarget): void {
    if (this.settings.keeper === undefined || target.type !== 'http' || target.oauth === undefined) return;
    const secrets = secretsIn(target.oauth.place);
    if (secrets.length > 0) this.api.events.emit('extension.secrets', secrets);
  }

  /**
   * Returns true if the turn must wait for the tool list. The first turn waits, because unknown tools cannot be
   * offered. Later turns do not wait for a server that is down.
   */
  #mustWait(): boolean {
    return !this.#hasConnected && !this.#connection.isResting;
  }

  /** Judges withheld tools again, because a person may have approved them meanwhile. */
  async #reconsider(): Promise<void> {
    const { withheld } = this.#offer;
    if (!withheld.some(({ reason }) => reason !== 'unusable')) return;
    this.#offer.reconsider(await this.#knowledge());
    this.#tellTools();
  }

  async #takeList(listed: readonly ListedTool[], abilities: ServerAbilities): Promise<void> {
    const { tools } = this.settings;
    this.#offer.update(tools === false ? [] : listed, await this.#knowledge());
    if (this.#sharedTools.length === 0) {
      const deps = {
        extension: this.name,
        settings: this.settings,
        tools: this.#tools,
        connection: this.#connection,
      };
      this.#sharedTools = registerSharedTools(deps, abilities);
    }
    this.#hasConnected = true;
    this.#tellTools();
  }

  #tellTools(): void {
    const withheld = this.#offer.withheld.map(({ tool, problem }) => ({ name: cleanText(tool.name, 256), problem }));
    this.#health.offers([...this.#offer.offeredNames, ...this.#sharedTools], withheld);
  }

  async #knowledge() {
    const { trust, tools } = this.settings;
    const approved = approvedOf(await readApprovalsFile(this.#bundleFolder), this.name);
    return { approved, trust, filter: tools === false ? {} : tools };
  }

  async #call(tool: ListedTool, ctx: ToolContext, input: JsonObject): Promise<JsonValue> {
    const { signal, traceparent, person } = ctx;
    const { timeouts, maxResultCharacters } = this.settings;
    const { logger } = this.api;
    /** The reasons of people who declined a question of this call. The protocol does not pass them to the server. */
    const notes: string[] = [];
    const options = {
      timeoutMs: timeouts.callMs,
      signal,
      ...(traceparent === undefined ? {} : { traceparent }),
      onProgress: (said: string) => logger.debug(`mcp.progress: ${tool.name}: ${cleanText(said, 200)}`),
      onQuestion: answerQuestions(this.name, person, (note) => notes.push(note)),
    };
    const { readOnlyHint, idempotentHint } = tool.annotations ?? {};
    const ask = () =>
      this.#connection.ask(
        (client) => {
          // After a reconnect, the server may have other tools.
          this.#offer.check(tool.name);
          return client.callTool(tool.name, input, options);
        },
        { signal, mayRepeat: readOnlyHint === true || idempotentHint === true },
      );
    const answer = await ask().catch(async (error: unknown) => {
      // The server has done nothing, so the call may be repeated after the sign-in.
      if (!(await this.#signIn(error, ctx))) throw error;
      return ask();
    });
    const reply = withNotes(answer, notes);
    if (reply.isError === true) {
      throw new GoondanError('E_MCP_TOOL', textOf(reply) || `"${tool.name}" of MCP server "${this.name}" failed.`);
    }
    return toOutput(reply, maxResultCharacters);
  }

  async #signIn(error: unknown, ctx: ToolContext): Promise<boolean> {
    const { signIn } = this.deps;
    const target = this.#target;
    if (signIn === undefined || target === undefined) return false;
    if (!GoondanError.is(error) || error.code !== 'E_MCP_SIGN_IN') return false;
    const hasSignedIn = await signIn(error.message, target, ctx);
    // A keeper has the new tokens, but this process must mask them, too.
    if (hasSignedIn) this.#maskSignIn(target);
    return hasSignedIn;
  }

  /**
   * Saves the state. This happens before and after the steps, because a resumed turn restores the state from before its
   * steps.
   */
  async #save(): Promise<void> {
    const { seen, withheld } = this.#offer;
    if (seen.size + withheld.length > 0) await this.api.state.set(toState(seen, withheld));
  }
}

/** True when the server's declaration is invalid, so that no connection was tried. */
function isDeclaration({ code }: GoondanError): boolean {
  return code === 'E_MCP_FILE' || code === 'E_MCP_VARIABLE';
}

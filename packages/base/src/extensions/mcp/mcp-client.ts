/**
 * The interface through which the rest of this folder uses the Model Context Protocol. `open-client.ts` implements it
 * with the SDK, and is the only file that imports the SDK.
 */
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import type { AnswerQuestion } from './server-question.ts';
import type { ServerTarget } from './server-target.ts';

/** A tool as the server lists it: untrusted data. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly annotations?: {
    readonly title?: string;
    readonly readOnlyHint?: boolean;
    readonly idempotentHint?: boolean;
  };
  /** `required`: the tool can only be called as a task, which this client does not support. */
  readonly execution?: { readonly taskSupport?: string };
}

export interface ToolReply {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
}

export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: JsonValue | undefined;
}

/** The capabilities that the server declares. */
export interface ServerAbilities {
  readonly tools: boolean;
  readonly resources: boolean;
  readonly prompts: boolean;
}

export interface AskOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called when the server reports progress, which restarts the timeout. */
  readonly onProgress?: (said: string) => void;
  /** The trace context of the call, in W3C format, so that the server can continue the trace. */
  readonly traceparent?: string;
  /** Asks a person what the server wants to know during this request. The timeout is paused meanwhile. */
  readonly onQuestion?: AnswerQuestion;
}

export interface ClientEvents {
  /** Called when the server's tool list changed. */
  onToolsChanged(): void;
  /** Called when the connection was lost, but not after `close`. */
  onClosed(): void;
  /** Called on an error outside of any request. The connection may or may not be lost. */
  onTrouble(problem: string): void;
  /** Called when a request of the server was refused. `problem` begins with "it". */
  onRefused(problem: string): void;
}

/** The exit and the last output of a server process that has exited. */
export interface LastWords {
  /** How the process exited; empty when it still runs, or when the server is not our process. */
  readonly exit: string;
  /** The last lines that the process printed, apart from protocol messages. */
  readonly lines: readonly string[];
}

/** A client for one server. Every method rejects with a `McpFailure`, or with the reason of the signal. */
export interface McpClient {
  /** Connects through a new transport, after closing the old connection. */
  connect(target: ServerTarget, options: AskOptions): Promise<ServerAbilities>;
  listTools(options: AskOptions): Promise<readonly ListedTool[]>;
  callTool(name: string, args: JsonObject, options: AskOptions): Promise<ToolReply>;
  /** Returns `{resources, resourceTemplates}` as the server sent them. */
  listResources(options: AskOptions): Promise<JsonObject>;
  readResource(uri: string, options: AskOptions): Promise<JsonObject>;
  listPrompts(options: AskOptions): Promise<JsonObject>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options: AskOptions): Promise<JsonObject>;
  /** Returns the exit and the last output of the current or previous server process. */
  lastWords(): LastWords;
  /** Closes the connection and ends the server process. Never rejects. */
  close(): Promise<void>;
}

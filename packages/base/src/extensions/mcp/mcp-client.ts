/**
 * The interface to the Model Context Protocol for the rest of this folder: a client that connects, asks, and
 * reconnects. `open-client.ts` makes one from the SDK, and is the only file that knows the SDK.
 */
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
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
  /** `required`: it can only be called as a task, which this client does not support. */
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

/** The server's declared capabilities. */
export interface ServerAbilities {
  readonly tools: boolean;
  readonly resources: boolean;
  readonly prompts: boolean;
}

export interface AskOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The server reported progress: the timeout starts over. */
  readonly onProgress?: (said: string) => void;
  /** The call as W3C Trace Context, so the server can continue the trace. */
  readonly traceparent?: string;
}

export interface ClientEvents {
  /** The list of tools changed. */
  onToolsChanged(): void;
  /** The connection was lost. Not reported after `close`. */
  onClosed(): void;
  /** An error outside all requests; the connection may be lost or not. */
  onTrouble(problem: string): void;
}

/** Exit and last lines of a server's process that is gone. */
export interface LastWords {
  /** How the process ended; empty when it still runs, or is not ours. */
  readonly exit: string;
  /** The last lines it printed apart from messages. */
  readonly lines: readonly string[];
}

/** Every method rejects with a `McpFailure`, or with the reason of the signal. */
export interface McpClient {
  /** Connects with a new transport, and closes the old connection. */
  connect(target: ServerTarget, options: AskOptions): Promise<ServerAbilities>;
  listTools(options: AskOptions): Promise<readonly ListedTool[]>;
  callTool(name: string, args: JsonObject, options: AskOptions): Promise<ToolReply>;
  /** Returns `{resources, resourceTemplates}` as the server sent them. */
  listResources(options: AskOptions): Promise<JsonObject>;
  readResource(uri: string, options: AskOptions): Promise<JsonObject>;
  listPrompts(options: AskOptions): Promise<JsonObject>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options: AskOptions): Promise<JsonObject>;
  /** Returns the last words of the current or last server process. */
  lastWords(): LastWords;
  /** Ends the server completely. Never rejects. */
  close(): Promise<void>;
}

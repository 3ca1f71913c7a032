/**
 * The config of this extension with all defaults filled in. Its shape was checked against the schema in
 * `extensions.yaml`.
 */
import { GoondanError } from '@goondan/types';
import type { HttpEntry, StdioEntry } from './mcp-file.ts';
import type { ProtocolChoice } from './server-target.ts';

export interface McpConfig {
  readonly transport?: TransportConfig;
  readonly fromFile?: { readonly server?: string; readonly folder?: 'bundle' | 'workdir' };
  readonly attach?: { readonly mode?: 'stateful' | 'stateless'; readonly scope?: 'instance' | 'agent' };
  readonly expose?: { readonly tools?: boolean | ToolFilter; readonly resources?: boolean; readonly prompts?: boolean };
  readonly trust?: Trust;
  readonly required?: boolean;
  readonly timeouts?: Partial<Timeouts>;
  readonly maxResultCharacters?: number;
  /** Set by the orchestrator if the connection is kept; no bundle can set it. */
  readonly keeper?: KeeperPlace;
}

/** Where the keeper of a kept connection listens, and why it may not run yet. */
export interface KeeperPlace {
  readonly socket?: string;
  readonly refused?: string;
}

/**
 * The transport, in the form of an entry of `.mcp.json`. The command may also be a list of the program and its first
 * arguments.
 */
export type TransportConfig = { readonly protocol?: ProtocolChoice } & (
  | HttpEntry
  | (Omit<StdioEntry, 'type' | 'command'> & { readonly type: 'stdio'; readonly command: string | readonly string[] })
);

/** Patterns for the server's own tool names. A denied tool is never offered. */
export interface ToolFilter {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Selects the offered tools: those unchanged since they were first seen, only approved ones, or all. */
export type Trust = 'first-use' | 'pinned' | 'any';

export interface Timeouts {
  readonly connectMs: number;
  readonly listMs: number;
  /** The timeout of a call, in milliseconds. It restarts when the server reports progress. */
  readonly callMs: number;
}

export interface McpSettings {
  /** `undefined` when the server is declared in `.mcp.json`. */
  readonly transport: TransportConfig | undefined;
  readonly file: { readonly server: string; readonly folder: 'bundle' | 'workdir' };
  readonly mode: 'stateful' | 'stateless';
  readonly tools: false | ToolFilter;
  readonly resources: boolean;
  readonly prompts: boolean;
  readonly trust: Trust;
  readonly required: boolean;
  readonly timeouts: Timeouts;
  readonly maxResultCharacters: number;
  /** `undefined` when this process connects to the server itself. */
  readonly keeper: KeeperPlace | undefined;
}

/** The maximum length of an extension's name; it leaves room for the name of a tool. */
const LONGEST_NAME = 40;

/** Reads the config. **Errors** — `E_EXT_CONFIG`. */
export function readSettings(config: McpConfig, name: string): McpSettings {
  const { transport, fromFile, attach = {}, expose = {}, timeouts = {} } = config;
  if (attach.scope === 'agent' && attach.mode !== 'stateful') {
    const message = `Extension/${name}: attach.scope "agent" needs attach.mode "stateful".`;
    throw new GoondanError('E_EXT_CONFIG', message, {
      suggestion: 'Only a kept connection can be shared: set the mode.',
    });
  }
  if (transport !== undefined && fromFile !== undefined) {
    throw new GoondanError('E_EXT_CONFIG', `Extension/${name} has both transport and fromFile.`, {
      suggestion: 'Keep one of them.',
    });
  }
  if (name.length > LONGEST_NAME) {
    const message = `Extension/${name} has ${name.length} characters; with more than ${LONGEST_NAME} there is no room for the names of its tools.`;
    throw new GoondanError('E_EXT_CONFIG', message, { suggestion: 'Give it a shorter name with `as`.' });
  }
  const { tools = true, resources = false, prompts = false } = expose;
  return {
    transport,
    file: { server: fromFile?.server ?? name, folder: fromFile?.folder ?? 'bundle' },
    mode: attach.mode ?? 'stateful',
    tools: tools === true ? {} : tools,
    resources,
    prompts,
    trust: config.trust ?? 'first-use',
    required: config.required ?? false,
    timeouts: { connectMs: 30_000, listMs: 15_000, callMs: 60_000, ...timeouts },
    maxResultCharacters: config.maxResultCharacters ?? 100_000,
    keeper: config.keeper,
  };
}

/**
 * Connects to a server once, as an agent would. Lists its tools, calls one if requested, and leaves no process running.
 */
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { approvedOf, readApprovalsFile } from './approvals-file.ts';
import { cleanText } from '../../text/clean-text.ts';
import { judgeTools } from './judge-tools.ts';
import type { AskOptions, ListedTool, McpClient } from './mcp-client.ts';
import { McpFailure, toError } from './mcp-failure.ts';
import { type McpConfig, type McpSettings, readSettings } from './mcp-settings.ts';
import { openClient } from './open-client.ts';
import { resolveTarget, type Surroundings } from './resolve-target.ts';
import { describeTarget } from './server-target.ts';
import { sharedNames } from './shared-tools.ts';
import { ToolNames } from './tool-names.ts';
import { textOf, toOutput } from './tool-result.ts';

const LONGEST_DESCRIPTION = 4_096;
const LONGEST_NAME = 256;

export interface ProbeOptions extends Surroundings {
  /** The extension's name in the agent. */
  readonly name: string;
  readonly config: McpConfig;
  /** A tool to call, by the server's name or by the agent's name for it. */
  readonly call?: { readonly tool: string; readonly args: JsonObject };
  /** Returns the known name that is most similar to a mistyped one. */
  readonly closestName: (name: string, known: readonly string[]) => string | undefined;
  readonly signal: AbortSignal;
}

export interface ProbedTool {
  /** The agent's name for the tool. */
  readonly name: string;
  /** The server's name for the tool. */
  readonly tool: string;
  readonly description: string;
  /** Why the tool is not offered to an agent; absent when it is offered. */
  readonly withheld?: string;
}

export interface ProbedServer {
  /** The command or address of the server, without secrets. */
  readonly target: string;
  readonly connectMs: number;
  readonly tools: readonly ProbedTool[];
  /** The agent's names for all tools that the server would offer, including the tools for resources and prompts. */
  readonly offered: readonly string[];
  readonly call?: { readonly tool: string; readonly output: JsonValue };
  /** The last lines that the server printed, apart from protocol messages. */
  readonly lines: readonly string[];
}

/**
 * **Errors** — `E_MCP_FILE`, `E_MCP_VARIABLE`, `E_MCP_CONNECT`, `E_MCP_TIMEOUT`, `E_MCP_CALL`; `E_MCP_UNKNOWN` when the
 * server has no such tool, `E_MCP_TOOL` when the call fails; the reason of the signal.
 */
export async function probeServer(options: ProbeOptions): Promise<ProbedServer> {
  const { name, signal } = options;
  const settings = readSettings(options.config, name);
  const target = await resolveTarget(settings, options);
  const client = await openClient(nobodyListens, { onServerLine: () => undefined, onSecrets: () => undefined });
  // Closing the client ends a running request. It does not wait for a process that is still starting.
  const stop = () => void client.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const startedAt = performance.now();
    const abilities = await client.connect(target, ask(settings.timeouts.connectMs, signal));
    const connectMs = Math.round(performance.now() - startedAt);
    const listed = abilities.tools ? await client.listTools(ask(settings.timeouts.listMs, signal)) : [];
    const tools = await judge(listed, settings, options);
    const call = options.call && (await callTool(client, tools, settings, options.call, options));
    const offered = [
      ...tools.flatMap((tool) => (tool.withheld === undefined ? [tool.name] : [])),
      ...sharedNames(settings, abilities).map((shared) => `${name}__${shared}`),
    ];
    const { lines } = client.lastWords();
    return { target: describeTarget(target), connectMs, tools, offered, ...(call && { call }), lines };
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof McpFailure ? toError(name, error) : error;
  } finally {
    signal.removeEventListener('abort', stop);
    await client.close();
  }
}

const nobodyListens = {
  onToolsChanged: () => undefined,
  onClosed: () => undefined,
  onTrouble: () => undefined,
  onRefused: () => undefined,
};

function ask(timeoutMs: number, signal: AbortSignal): AskOptions {
  return { timeoutMs, signal };
}

async function judge(
  listed: readonly ListedTool[],
  settings: McpSettings,
  { name, bundleFolder }: ProbeOptions,
): Promise<ProbedTool[]> {
  const { trust, tools: filter } = settings;
  const approved = approvedOf(await readApprovalsFile(bundleFolder), name);
  const knowledge = { seen: new Map(), approved, trust, filter: filter === false ? { allow: [] } : filter };
  const { offered, withheld } = judgeTools(listed, knowledge);
  const names = new ToolNames(name, sharedNames(settings));
  names.assign([...offered, ...withheld.map(({ tool }) => tool)].map(({ name: tool }) => tool));
  const describe = ({ name: tool, description = '' }: ListedTool) => ({
    name: names.of(tool),
    tool,
    description: cleanText(description, LONGEST_DESCRIPTION),
  });
  return [...offered.map(describe), ...withheld.map(({ tool, problem }) => ({ ...describe(tool), withheld: problem }))];
}

async function callTool(
  client: McpClient,
  tools: readonly ProbedTool[],
  { timeouts, maxResultCharacters }: McpSettings,
  { tool: wanted, args }: NonNullable<ProbeOptions['call']>,
  { name, signal, closestName }: ProbeOptions,
): Promise<NonNullable<ProbedServer['call']>> {
  const found = tools.find((each) => each.tool === wanted || each.name === wanted);
  if (found === undefined) {
    const known = tools.map(({ tool }) => tool);
    const meant = closestName(wanted, known);
    const names = known.map((tool) => cleanText(tool, LONGEST_NAME)).join(', ') || 'none';
    const hint = meant === undefined ? `It has: ${names}.` : `Did you mean "${cleanText(meant, LONGEST_NAME)}"?`;
    throw new GoondanError('E_MCP_UNKNOWN', `MCP server "${name}" has no tool "${wanted}". ${hint}`, {
      suggestion: `\`gdn mcp test ${name}\` lists its tools.`,
    });
  }
  const reply = await client.callTool(found.tool, args, ask(timeouts.callMs, signal));
  if (reply.isError === true) {
    throw new GoondanError('E_MCP_TOOL', textOf(reply) || `"${found.tool}" of MCP server "${name}" failed.`);
  }
  return { tool: found.tool, output: toOutput(reply, maxResultCharacters) };
}

/** Finds a server by name, and the settings with which an agent would start it. No code of the bundle runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MCP_FILE, type McpConfig, readMcpFile, serversOf } from '@goondan/base/mcp';
import type { SwarmPlan } from '@goondan/runtime';
import type { DeclaredAgent, DeclaredExtension } from '@goondan/runtime/bundle';
import { childEnvironment } from '@goondan/runtime/internal';
import { GoondanError, type JsonObject } from '@goondan/types';

export interface FoundServer {
  /** The extension's name in the agent; the server's own name when no agent uses it. */
  readonly name: string;
  readonly config: McpConfig;
  /** The agent that uses the server; absent when none does. */
  readonly agent?: string;
  /** All agents that use the same server with the same settings, including `agent`. */
  readonly users: readonly DeclaredAgent[];
  readonly bundleFolder: string;
  readonly workdir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Secrets that must be masked in output. */
  readonly secrets: readonly string[];
}

/**
 * Finds the extension whose name in an agent (`as`) is `wanted`. If there is none, finds an extension that uses the
 * server `wanted` of `.mcp.json`. If there is none either, finds that server itself, which then gets the environment of
 * this process. **Errors** — `E_MCP_UNKNOWN`, `E_MCP_FILE`.
 */
export async function findServer(
  plan: Pick<SwarmPlan, 'agents'>,
  wanted: string,
  { agentName, ...places }: Pick<FoundServer, 'bundleFolder' | 'workdir'> & { readonly agentName?: string },
): Promise<FoundServer> {
  const used = plan.agents
    .filter((agent) => agentName === undefined || agent.agentName === agentName)
    .flatMap((agent) => (agent.extensions ?? []).filter(isMcpServer).map((each) => ({ agent, ...describe(each) })));
  const found = used.find(({ name }) => name === wanted) ?? used.find(({ server }) => server === wanted);
  if (found !== undefined) {
    const { agent, name, config } = found;
    const users = used.filter((each) => isAlike(each, found)).map((each) => each.agent);
    return { name, config, agent: agent.agentName, users, ...placesOf(agent, places) };
  }
  const path = join(places.bundleFolder, MCP_FILE);
  const servers = Object.keys(serversOf((await readMcpFile(path)) ?? {}));
  if (agentName === undefined && servers.includes(wanted)) {
    return { name: wanted, config: {}, ...places, environment: process.env, secrets: [], users: [] };
  }
  const names = [...new Set([...used.map(({ name }) => name), ...servers])].join(', ') || 'none';
  throw new GoondanError('E_MCP_UNKNOWN', `There is no MCP server "${wanted}". Servers: ${names}.`);
}

/** Tells whether an extension is the `mcp` extension of the base library, even under another name. */
export function isMcpServer({ root, resource }: DeclaredExtension): boolean {
  if (!/(?:^|\/)extensions\/mcp\/register\.[jt]s$/.test(resource.spec.entry)) return false;
  try {
    const { name }: { name?: unknown } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return name === '@goondan/base';
  } catch {
    return false;
  }
}

type UsedServer = Pick<FoundServer, 'name' | 'config'> & { readonly agent: DeclaredAgent };

function isAlike(one: UsedServer, other: UsedServer): boolean {
  const partsOf = ({ name, config, agent }: UsedServer) => [name, config, agent.environment, agent.workdir];
  return Bun.deepEquals(partsOf(one), partsOf(other));
}

function describe({ resource, config }: DeclaredExtension) {
  const merged: JsonObject = { ...resource.spec.config, ...config };
  const { transport, fromFile } = merged as McpConfig;
  const { name } = resource.metadata;
  // The cast is safe: the config was checked when the bundle was read.
  return {
    name,
    config: merged as McpConfig,
    server: transport === undefined ? (fromFile?.server ?? name) : undefined,
  };
}

function placesOf(
  { bundleFolder, workdir, environment = {}, secrets = [] }: DeclaredAgent,
  places: Pick<FoundServer, 'bundleFolder' | 'workdir'>,
) {
  return {
    bundleFolder: bundleFolder ?? places.bundleFolder,
    workdir: workdir ?? places.workdir,
    environment: childEnvironment(process.env, environment, {}),
    secrets,
  };
}

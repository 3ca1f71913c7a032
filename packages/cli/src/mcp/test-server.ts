/**
 * `gdn mcp test`: starts a server as an agent would, and shows its tools. The bundle must be trusted, because the
 * server's command runs.
 */
import { cleanText, MCP_FILE, type McpConfig, type ProbedServer, probeServer } from '@goondan/base/mcp';
import { closestName, maskSecrets } from '@goondan/runtime/internal';
import { GoondanError, type JsonObject } from '@goondan/types';
import { harmlessLines } from '../harmless-text.ts';
import { resolveTrustedPlan, prepareRun, type RunRequest } from '../run/prepare-run.ts';
import type { Terminal } from '../terminal.ts';
import { findServer } from './find-server.ts';
import { recordTools } from './record-tools.ts';

export interface TestRequest extends RunRequest {
  readonly name: string;
  readonly agent?: string;
  /** A tool to call. */
  readonly call?: string;
  /** The arguments for that tool, as JSON. */
  readonly args?: string;
}

/** The output of `gdn mcp test --json`. Fields may be added, but are never renamed. */
export interface TestedServer extends ProbedServer {
  readonly name: string;
  /** The agent that uses the server; null when none does. */
  readonly agent: string | null;
}

/** **Errors** — `E_USAGE`; those of `prepareRun`, `resolveTrustedPlan`, `findServer` and `probeServer`; `E_CANCELLED`. */
export async function testServer(
  { name: wanted, agent: agentName, call, args, ...request }: TestRequest,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<TestedServer> {
  const calls = call === undefined ? {} : { call: { tool: call, args: readArguments(args) } };
  const run = await prepareRun({ ...request, connections: false }, terminal);
  // Allows missing model keys, because no model is called.
  const { plan } = await resolveTrustedPlan(run, terminal, signal, true);
  const places = { bundleFolder: run.bundle.folder, workdir: run.workdir };
  const { agent, users, secrets, ...found } = await findServer(plan, wanted, {
    ...places,
    ...(agentName && { agentName }),
  });
  const mask = maskSecrets(secrets);
  try {
    const environment = { ...found.environment, GOONDAN_STATE_ROOT: run.stateRoot };
    const probed = maskAll(await probeServer({ ...found, environment, ...calls, closestName, signal }), mask);
    const { stateRoot, workspaceId } = run;
    await recordTools({ stateRoot, workspaceId }, users, found.name, probed.offered, terminal);
    return { name: found.name, agent: agent ?? null, ...probed };
  } catch (error) {
    if (signal.aborted) {
      const message = `The test of "${wanted}" was ended early. Nothing of the server is left running.`;
      throw new GoondanError('E_CANCELLED', message, { suggestion: 'Run the command again to retry.' });
    }
    if (!GoondanError.is(error)) throw error;
    const suggestion = error.code === 'E_MCP_CONNECT' ? whatToCheck(found.config) : error.suggestion;
    throw new GoondanError(error.code, mask(error.message), { suggestion, cause: error });
  }
}

/** Returns the suggestion for a failed test, because the suggestion in the error catalogue is about a running agent. */
function whatToCheck({ transport }: McpConfig): string {
  const where = transport === undefined ? `\`${MCP_FILE}\`` : '`transport` of its config';
  return `Check its command, arguments and environment (over HTTP its url and headers) in ${where}.`;
}

/** Masks all texts in the result, because a server may print the secrets it was given. */
function maskAll(probed: ProbedServer, mask: (text: string) => string): ProbedServer {
  // The cast is safe: only texts change, and the shape stays the same.
  return JSON.parse(JSON.stringify(probed), (_key, value: unknown) =>
    typeof value === 'string' ? mask(value) : value,
  ) as ProbedServer;
}

export function describeTest({ name, agent, target, connectMs, tools, call }: TestedServer): string {
  const user = agent === null ? 'no agent uses it' : `used by ${agent}`;
  const lines = [
    `Connected to "${name}" in ${connectMs} ms: ${target} (${user})`,
    tools.length === 0 ? 'It has no tools.' : 'Tools:',
    ...tools.map(({ name: full, description, withheld }) => {
      const [first = ''] = description.split('\n');
      return `  ${full}  ${withheld === undefined ? cleanText(first, 100) : `(withheld: ${withheld})`}`;
    }),
    ...(call === undefined ? [] : ['', `${call.tool} answered:`, showOutput(call.output)]),
  ];
  return `${harmlessLines(lines.join('\n'))}\n`;
}

function showOutput(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output, undefined, 2);
}

function readArguments(args = '{}'): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(args);
  } catch {
    // Invalid JSON is reported below, like a value that is not an object.
  }
  // The cast is safe: an object parsed from JSON is a JSON object.
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new GoondanError('E_USAGE', '--args is not a JSON object.', {
    suggestion: `For example: --args '{"word": "flour"}'`,
  });
}

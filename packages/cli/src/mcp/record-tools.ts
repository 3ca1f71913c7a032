/** Records the tools that `gdn mcp test` saw on a server, for `gdn explain` and Studio. */
import type { DeclaredAgent } from '@goondan/runtime/bundle';
import { openStoreReader } from '@goondan/runtime/history';
import { type LoadedAgent, partsDigest, recordDescriptions } from '@goondan/runtime/internal';
import { explainDeclared } from '../explain/explain-agent.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import type { FilePlace } from '../swarm/swarm-place.ts';
import type { Terminal } from '../terminal.ts';

/**
 * Records the tools for all `agents`. `extension` is the server's name in these agents, and `offered` are the names of
 * its tools. Never rejects, because the record is only for display. Does nothing while the swarm runs, because its
 * agents write the record themselves.
 */
export async function recordTools(
  { stateRoot, workspaceId }: FilePlace,
  agents: readonly DeclaredAgent[],
  extension: string,
  offered: readonly string[],
  terminal: Terminal,
): Promise<void> {
  const place = { stateRoot, workspaceId };
  const warn = ({ path, message }: { readonly path: string; readonly message: string }) =>
    terminal.printError(`The tools could not be kept for \`gdn explain\`: ${path}: ${message}\n`);
  try {
    if ((await attachSwarm(place)) !== undefined) return;
    const recorder = recordDescriptions({ ...place, warn, mayMakeWorkspace: true });
    for (const agent of agents) {
      const before = (await openStoreReader(place).directory.describe(agent.agentName)) ?? describeDeclared(agent);
      recorder.record(agent.agentName, withTools(before, extension, offered));
    }
    await recorder.settled();
  } catch (error) {
    warn({ path: stateRoot, message: error instanceof Error ? error.message : String(error) });
  }
}

/** Replaces the tools of one extension in the recorded description. */
function withTools(before: LoadedAgent, extension: string, offered: readonly string[]): LoadedAgent {
  const seenAt = new Date().toISOString();
  const { registered = [], unknown = [], ...rest } = before;
  const isOther = (tool: { readonly extension: string }) => tool.extension !== extension;
  const gone = new Set(registered.filter((tool) => !isOther(tool)).map(({ name }) => name));
  const left = unknown.filter((each) => each !== extension);
  return {
    ...rest,
    tools: [...rest.tools.filter((name) => !gone.has(name)), ...offered],
    registered: [...registered.filter(isOther), ...offered.map((name) => ({ name, extension, seenAt }))],
    ...(left.length > 0 && { unknown: left }),
  };
}

function describeDeclared(agent: DeclaredAgent): LoadedAgent {
  const { extensions, tools, unknownTools } = explainDeclared(agent);
  const unknown = unknownTools.map(({ extension }) => extension);
  return { extensions, layers: [], tools, unknown, digest: partsDigest(agent), neverStarted: true };
}

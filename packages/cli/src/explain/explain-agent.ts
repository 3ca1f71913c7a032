/**
 * Explains the parts of an agent: as recorded at its last start, from a start just for this purpose, or from its
 * declaration.
 */
import { type Bundle, type DeclaredAgent, type DeclaredAgents, declaredAgents } from '@goondan/runtime/bundle';
import {
  AGENT_TOOL_NAMES,
  type AgentDescription,
  inspectAgent,
  keepKnownTools,
  type LayerSummary,
  partsDigest,
} from '@goondan/runtime/internal';
import type { GrantSummary } from '@goondan/runtime/control';
import { GoondanError, type MiddlewareKind } from '@goondan/types';
import { isMcpServer } from '../mcp/find-server.ts';
import { withQuestionsAt } from '../question/with-questions.ts';
import { resolveTrustedPlan, type PreparedRun, prepareRun, type RunRequest } from '../run/prepare-run.ts';
import { openReader } from '../swarm/swarm-place.ts';
import { unknownAgent } from '../swarm/unknown-agent.ts';
import type { Terminal } from '../terminal.ts';

export interface ExplainRequest extends RunRequest {
  readonly agent?: string;
  /** If true, loads the agent, which runs code of the bundle. */
  readonly load: boolean;
}

export type ExplainedLayer = Omit<LayerSummary, 'kind'>;

/** The output of `gdn explain --json`. */
export interface Explanation {
  readonly agent: string;
  readonly source: 'declared' | 'last-run' | 'loaded';
  /** The extensions, in the order in which they are loaded. */
  readonly extensions: readonly string[];
  /** The layers, outermost first; null while they are unknown. */
  readonly layers: Readonly<Record<MiddlewareKind, readonly ExplainedLayer[]>> | null;
  readonly tools: readonly string[];
  /** The agents that the agent may call, if the bundle limits them; absent when it may call every agent. */
  readonly mayAsk?: readonly string[];
  /** The schema that its answers must fit, unless a caller demands another one; absent when the bundle has none. */
  readonly output?: DeclaredAgent['output'];
  /** The calls that a person always allows in conversations of the agent; absent when there are none. */
  readonly allowed?: readonly GrantSummary[];
  /** The tools again, each with its source: `Tool/name`, `Extension/name`, or `runtime`. */
  readonly toolSources: readonly ToolSource[];
  /** Extensions whose tools are unknown, each with a way to find them out. */
  readonly unknownTools: readonly UnknownTools[];
  /** The npm package of each `Extension/name` and `Tool/name` that does not come from the bundle itself. */
  readonly packages: Readonly<Record<string, string>>;
  /** `Tool/name` of each tool that defines its exports in code and was not loaded yet; absent when there is none. */
  readonly schemaInCode?: readonly string[];
}

export interface ToolSource {
  readonly name: string;
  readonly from: string;
  /** The last time an extension offered the tool; null for a declared tool. */
  readonly seenAt: string | null;
}

export interface UnknownTools {
  readonly extension: string;
  /**
   * The command that shows the tools of an MCP server; null for any other extension, because its tools become known in
   * a turn.
   */
  readonly test: string | null;
}

/**
 * The `note` of the result tells people how reliable the explanation is.
 *
 * **Errors** — `E_AGENT_UNKNOWN`; those of `prepareRun`; with `load` those of `resolveTrustedPlan` and `inspectAgent`.
 */
export async function explainAgent(
  { load, agent: wanted, ...request }: ExplainRequest,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Explanation & { readonly note?: string }> {
  const run = await prepareRun({ ...request, connections: false }, terminal);
  const { bundle, swarmName: swarm, workdir } = run;
  const declared = chooseAgent(declaredAgents(bundle, { swarm, environment: process.env, workdir }), wanted);
  const agent = declared.agentName;
  const packages = packagesOf(bundle, declared);
  const recorded = await (await openReader(run.place)).directory.describe(agent);
  const { mayAsk, output } = declared;
  const allowed = await readGrants(run, agent, signal);
  const rules = { ...(mayAsk && { mayAsk }), ...(output && { output }), ...(allowed.length > 0 && { allowed }) };
  if (load) {
    // MCP servers connect only when a turn needs them, so their tools are taken from the last run.
    const loaded = keepKnownTools(await loadNow(run, agent, terminal, signal), recorded);
    return { agent, source: 'loaded', ...rules, ...toParts(loaded, declared), packages };
  }
  if (recorded === undefined || recorded.neverStarted === true) {
    return { ...explainDeclared(declared, recorded), ...rules, packages, note: NEVER_STARTED };
  }
  const explanation: Explanation = { agent, source: 'last-run', ...rules, ...toParts(recorded, declared), packages };
  return recorded.digest === partsDigest(declared) ? explanation : { ...explanation, note: CHANGED };
}

const NEVER_STARTED =
  'It has not been started yet, so its layers are not known. Run it once, or add `--load`, which runs its modules.';
const CHANGED =
  'Its tools or extensions have changed since that start. Run it again, or add `--load`, which runs its modules.';

/** Reads what is always allowed: from the running swarm, or from its store. */
async function readGrants(
  { place, swarmName }: PreparedRun,
  agentName: string,
  signal: AbortSignal,
): Promise<readonly GrantSummary[]> {
  try {
    const grants = await withQuestionsAt(place, swarmName, signal, (door) => door.grants());
    return grants.filter(({ agent }) => agent === agentName);
  } catch (error) {
    // Nobody was asked anything yet.
    if (GoondanError.is(error) && error.code === 'E_SWARM_UNKNOWN') return [];
    throw error;
  }
}

async function loadNow({ bundle, ...run }: PreparedRun, agentName: string, terminal: Terminal, signal: AbortSignal) {
  const { plan } = await resolveTrustedPlan({ ...run, bundle }, terminal, signal);
  return inspectAgent(plan, agentName, signal);
}

function chooseAgent({ entryAgent, agents }: DeclaredAgents, wanted = entryAgent): DeclaredAgent {
  const chosen = agents.find(({ agentName }) => agentName === wanted?.replace(/^Agent\//, ''));
  if (chosen !== undefined) return chosen;
  const names = agents.map(({ agentName }) => agentName);
  throw unknownAgent(wanted ?? '', names);
}

/** Finds the packages of an agent's parts by the folders of these parts. */
function packagesOf({ resources }: Bundle, { extensions = [], tools = [] }: DeclaredAgent): Explanation['packages'] {
  const names = new Map(resources.map(({ folder, package: name }) => [folder, name]));
  const parts = [
    ...extensions.map(({ resource, root }) => ({ part: `Extension/${resource.metadata.name}`, root })),
    ...tools.map(({ name, root }) => ({ part: `Tool/${name}`, root })),
  ];
  return Object.fromEntries(
    parts.flatMap(({ part, root }) => {
      const name = names.get(root);
      return name === undefined ? [] : [[part, name]];
    }),
  );
}

/** Explains an agent that never started. `tested` adds the tools that `gdn mcp test` saw on its servers. */
export function explainDeclared(declared: DeclaredAgent, tested?: AgentDescription): Omit<Explanation, 'packages'> {
  const { agentName, extensions = [], tools: own = [], agentTools = false } = declared;
  const tools = [
    ...own.flatMap(({ name, exports }) => exports.map((each) => `${name}__${each.name}`)),
    ...(agentTools ? AGENT_TOOL_NAMES : []),
  ];
  const names = extensions.map(({ resource }) => resource.metadata.name);
  const unknown = extensions.filter(isMcpServer).map(({ resource }) => resource.metadata.name);
  const known = keepKnownTools({ extensions: names, layers: [], tools, unknown }, tested);
  return {
    agent: agentName,
    source: 'declared',
    extensions: names,
    layers: null,
    tools: known.tools,
    ...sourcesOf(known, declared),
  };
}

/** Returns the source of each tool, and the extensions whose tools are unknown. */
export function sourcesOf(
  { tools, registered = [], unknown = [] }: Pick<AgentDescription, 'tools' | 'registered' | 'unknown'>,
  { extensions = [], tools: declared = [] }: Pick<DeclaredAgent, 'extensions' | 'tools'>,
): Pick<Explanation, 'toolSources' | 'unknownTools' | 'schemaInCode'> {
  const found = new Map(registered.map((tool) => [tool.name, tool]));
  // A resource name contains no `_`, so the prefix is unambiguous.
  const ownerOf = (tool: string) => declared.find(({ name }) => tool.startsWith(`${name}__`))?.name;
  const inCode = declared.flatMap(({ name, exports }) =>
    exports.length > 0 || tools.some((tool) => tool.startsWith(`${name}__`)) ? [] : [`Tool/${name}`],
  );
  const servers = new Set(extensions.filter(isMcpServer).map(({ resource }) => resource.metadata.name));
  return {
    toolSources: tools.map((name) => {
      const { extension, seenAt = null } = found.get(name) ?? {};
      if (extension !== undefined) return { name, from: `Extension/${extension}`, seenAt };
      const owner = ownerOf(name);
      return { name, from: owner === undefined ? 'runtime' : `Tool/${owner}`, seenAt };
    }),
    unknownTools: unknown.map((extension) => ({
      extension,
      test: servers.has(extension) ? `gdn mcp test ${extension}` : null,
    })),
    ...(inCode.length > 0 && { schemaInCode: inCode }),
  };
}

function toParts(
  description: AgentDescription,
  declared: DeclaredAgent,
): Omit<Explanation, 'agent' | 'source' | 'packages'> {
  const { extensions, layers, tools } = description;
  const of = (wanted: MiddlewareKind) =>
    layers.flatMap(({ kind, extension, name, priority, ...more }) =>
      kind === wanted ? [{ extension, name, priority, ...more }] : [],
    );
  return {
    extensions,
    layers: { turn: of('turn'), step: of('step'), model: of('model'), toolCall: of('toolCall') },
    tools,
    ...sourcesOf(description, declared),
  };
}

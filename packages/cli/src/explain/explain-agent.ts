/** What an agent is made of: by its last start, by a start just for that, or by what is declared. */
import {
  AGENT_TOOL_NAMES,
  type AgentDescription,
  type DeclaredAgent,
  type DeclaredAgents,
  declaredAgents,
  inspectAgent,
  type LayerSummary,
  partsDigest,
  readDescription,
} from '@goondan/runtime';
import type { MiddlewareKind } from '@goondan/types';
import { mayStart, type PreparedRun, prepareRun, type RunRequest } from '../run/prepare-run.ts';
import { unknownAgent } from '../swarm/unknown-agent.ts';
import type { Terminal } from '../terminal.ts';

export interface ExplainRequest extends RunRequest {
  readonly agent?: string;
  /** Runs code of the bundle. */
  readonly load: boolean;
}

export type ExplainedLayer = Omit<LayerSummary, 'kind'>;

/** What `gdn explain --json` prints. */
export interface Explanation {
  readonly agent: string;
  readonly source: 'declared' | 'last-run' | 'loaded';
  /** In the order they are loaded. */
  readonly extensions: readonly string[];
  /** Outermost first; null as long as nobody knows. */
  readonly layers: Readonly<Record<MiddlewareKind, readonly ExplainedLayer[]>> | null;
  readonly tools: readonly string[];
}

/**
 * `note` is for people: how much the explanation is worth.
 *
 * **Errors** — `E_AGENT_UNKNOWN`; those of `prepareRun`; with `load` those of `mayStart` and `inspectAgent`.
 */
export async function explainAgent(
  { load, agent: wanted, ...request }: ExplainRequest,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Explanation & { readonly note?: string }> {
  const run = await prepareRun(request, terminal);
  const { bundle, swarmName: swarm, workdir } = run;
  const declared = chooseAgent(declaredAgents(bundle, { swarm, environment: process.env, workdir }), wanted);
  const agent = declared.agentName;
  if (load) return { agent, source: 'loaded', ...toParts(await loadNow(run, agent, terminal, signal)) };
  const recorded = await readDescription(run, agent);
  if (recorded === undefined) return { ...explainDeclared(declared), note: NEVER_STARTED };
  const explanation: Explanation = { agent, source: 'last-run', ...toParts(recorded) };
  return recorded.digest === partsDigest(declared) ? explanation : { ...explanation, note: CHANGED };
}

const NEVER_STARTED =
  'It has not been started yet, so its layers are not known. Run it once, or add `--load`, which runs its modules.';
const CHANGED =
  'Its tools or extensions have changed since that start. Run it again, or add `--load`, which runs its modules.';

async function loadNow({ bundle, ...run }: PreparedRun, agentName: string, terminal: Terminal, signal: AbortSignal) {
  const { plan } = await mayStart({ ...run, bundle }, terminal, signal);
  return inspectAgent({ plan, agentName, signal });
}

function chooseAgent({ entryAgent, agents }: DeclaredAgents, wanted = entryAgent): DeclaredAgent {
  const chosen = agents.find(({ agentName }) => agentName === wanted?.replace(/^Agent\//, ''));
  if (chosen !== undefined) return chosen;
  const names = agents.map(({ agentName }) => agentName);
  throw unknownAgent(wanted ?? '', names);
}

function explainDeclared({ agentName, extensions = [], tools = [], agentTools = false }: DeclaredAgent): Explanation {
  return {
    agent: agentName,
    source: 'declared',
    extensions: extensions.map(({ resource }) => resource.metadata.name),
    layers: null,
    tools: [
      ...tools.flatMap(({ name, exports }) => exports.map((each) => `${name}__${each.name}`)),
      ...(agentTools ? AGENT_TOOL_NAMES : []),
    ],
  };
}

function toParts({
  extensions,
  layers,
  tools,
}: AgentDescription): Pick<Explanation, 'extensions' | 'layers' | 'tools'> {
  const of = (wanted: MiddlewareKind) =>
    layers.flatMap(({ kind, extension, name, priority, ...more }) =>
      kind === wanted ? [{ extension, name, priority, ...more }] : [],
    );
  return {
    extensions,
    layers: { turn: of('turn'), step: of('step'), model: of('model'), toolCall: of('toolCall') },
    tools,
  };
}

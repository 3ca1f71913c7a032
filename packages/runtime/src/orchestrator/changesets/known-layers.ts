/** The layers of each agent's extensions, as its processes described them. */
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { AgentDescription, LayerSummary } from '../../ipc/from-agent.ts';

export class KnownLayers {
  readonly #agents = new Map<string, Map<string, readonly LayerSummary[]>>();

  learn(agentName: string, { extensions, layers }: Pick<AgentDescription, 'extensions' | 'layers'>): void {
    const known = this.#agents.get(agentName) ?? new Map<string, readonly LayerSummary[]>();
    for (const name of extensions) {
      known.set(
        name,
        layers.filter(({ extension }) => extension === name),
      );
    }
    this.#agents.set(agentName, known);
  }

  /** Returns the layers of the agent's extensions, or `undefined` if no process has described one of them yet. */
  of({
    agentName,
    extensions = [],
  }: Pick<DeclaredAgent, 'agentName' | 'extensions'>): readonly LayerSummary[] | undefined {
    const known = this.#agents.get(agentName);
    const found = extensions.map(({ resource }) => known?.get(resource.metadata.name));
    return found.includes(undefined) ? undefined : found.flatMap((layers) => layers ?? []);
  }
}

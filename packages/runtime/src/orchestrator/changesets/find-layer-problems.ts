import type { LayerSummary } from '../../ipc/from-agent.ts';

/**
 * Returns a sentence for each layer of a new extension that would be outside of a layer that the agent has. Declarative hooks
 * are always inside, and swarm-wide extensions always outside, so only the agent's own extensions are compared. Among
 * these, a new extension comes last, so its layers need a priority that is not lower.
 */
export function findLayerProblems(
  agentName: string,
  { added, existing }: { readonly added: readonly LayerSummary[]; readonly existing: readonly LayerSummary[] },
): string[] {
  return added.flatMap((layer) => {
    const name = `Layer "${layer.name}" (${layer.kind}) of the new extension "${layer.extension}" of agent "${agentName}"`;
    if (layer.tier !== 'agent') return [`${name} is not a layer of the agent's own extensions.`];
    const inside = existing.filter(({ kind, tier }) => kind === layer.kind && tier === 'agent');
    const [innermost] = inside.toSorted((one, other) => other.priority - one.priority);
    if (innermost === undefined || layer.priority >= innermost.priority) return [];
    return [
      `${name} has priority ${layer.priority} and would be outside of layer "${innermost.name}" of "${innermost.extension}". Give it priority ${innermost.priority} or higher.`,
    ];
  });
}

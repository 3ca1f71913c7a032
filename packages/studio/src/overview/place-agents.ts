/**
 * Arranges the agents of a swarm: the entry agent and agents that no other agent may call are on the left, and each
 * other agent is one column to the right of its first caller.
 */

export interface PlacedAgent {
  readonly name: string;
  readonly column: number;
  readonly row: number;
}

export function placeAgents(
  agents: readonly { readonly name: string; readonly mayAsk?: readonly string[] }[],
  entry?: string,
): readonly PlacedAgent[] {
  const columns = new Map<string, number>();
  const known = new Map(agents.map((agent) => [agent.name, agent]));
  const asked = new Set(agents.flatMap(({ mayAsk = [] }) => mayAsk));
  const first = agents.filter(({ name }) => name === entry || !asked.has(name)).map(({ name }) => name);
  // Agents may call each other in a circle, so each agent stays in the first column in which it was reached.
  for (let names = first, column = 0; names.length > 0; column += 1) {
    const next: string[] = [];
    for (const name of names) {
      if (columns.has(name)) continue;
      columns.set(name, column);
      next.push(...(known.get(name)?.mayAsk ?? []).filter((other) => known.has(other)));
    }
    names = next.filter((name) => !columns.has(name));
  }
  const rows = new Map<number, number>();
  return agents.map(({ name }) => {
    const column = columns.get(name) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return { name, column, row };
  });
}

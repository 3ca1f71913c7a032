import { expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import fc from 'fast-check';
import { findCircle } from './wait-graph.ts';

const at = (name: number): AgentAddress => ({ agentName: `n${name}`, instanceKey: 'k' });

test('A-04 a graph with every edge checked has no circle, and a rejected edge would have closed one', () => {
  const edges = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(edges, (asked) => {
      const graph = new Map<string, AgentAddress[]>();
      const awaited = ({ agentName }: AgentAddress) => graph.get(agentName) ?? [];
      for (const [from, to] of asked) {
        const circle = findCircle(awaited, at(from), at(to));
        if (circle === undefined) {
          graph.set(at(from).agentName, [...awaited(at(from)), at(to)]);
          continue;
        }
        expect([circle.at(0), circle.at(1), circle.at(-1)]).toEqual([at(from), at(to), at(from)]);
        for (const [index, step] of circle.slice(1, -1).entries()) {
          expect(awaited(step)).toContainEqual(circle[index + 2] ?? at(-1));
        }
      }
      expect(sortOut(graph)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

/**
 * Tells whether the graph has no cycle: removes instances that wait for no other instance, again and again, until none
 * is left.
 */
function sortOut(graph: ReadonlyMap<string, readonly AgentAddress[]>): boolean {
  const left = new Map(graph);
  for (;;) {
    const free = [...left].filter(([, awaited]) => awaited.every(({ agentName }) => !left.has(agentName)));
    if (free.length === 0) return left.size === 0;
    for (const [name] of free) left.delete(name);
  }
}

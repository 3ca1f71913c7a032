/** The points of a turn at which extensions of v0.10 register functions. */

export const mutatorPoints = [
  'turn.pre',
  'turn.post',
  'step.pre',
  'step.config',
  'step.tools',
  'step.blocks',
  'step.llmInput',
  'step.llmError',
  'step.post',
  'toolCall.pre',
  'toolCall.post',
] as const;

export const middlewarePoints = ['step.llmCall', 'toolCall.exec'] as const;

/** Points of v0.10 that never fire, because Goondan does not manage workspaces. */
export const silentPoints: readonly string[] = ['workspace.repoAvailable', 'workspace.worktreeMounted'];

export type MutatorPoint = (typeof mutatorPoints)[number];
export type MiddlewarePoint = (typeof middlewarePoints)[number];
export type Point = MutatorPoint | MiddlewarePoint;

export function isMutatorPoint(point: unknown): point is MutatorPoint {
  return (mutatorPoints as readonly unknown[]).includes(point);
}

export function isMiddlewarePoint(point: unknown): point is MiddlewarePoint {
  return (middlewarePoints as readonly unknown[]).includes(point);
}

/** Returns the known point whose name is most similar. */
export function nearestPoint(point: string): Point {
  const known: readonly Point[] = [...mutatorPoints, ...middlewarePoints];
  const text = point.slice(0, 40).toLowerCase();
  const distances = known.map((name) => editDistance(text, name.toLowerCase()));
  const nearest = known[distances.indexOf(Math.min(...distances))];
  return nearest ?? 'turn.pre';
}

/** Counts the characters to insert, remove or replace between two short texts. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let index = 0; index < one.length; index += 1) {
    const next = [index + 1];
    for (let column = 0; column < other.length; column += 1) {
      const replaced = (row[column] ?? 0) + (one[index] === other[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Where the values of a document stand, as a tree beside them. Aliases share the branches of what they stand for. */
import type { Path } from '../place.ts';

export interface PositionTree {
  /** Offset of the value in the text. */
  readonly value: number;
  /** Offset of its key, when it has one. */
  readonly key?: number;
  readonly children?: ReadonlyMap<string | number, PositionTree>;
}

/** Of what is not there, the offset of the nearest thing around it. */
export function offsetOf(tree: PositionTree, path: Path, part: 'key' | 'value'): number {
  let here = tree;
  let isWhole = true;
  for (const step of path) {
    const child = here.children?.get(step);
    if (child === undefined) {
      isWhole = false;
      break;
    }
    here = child;
  }
  // What is missing inside an object is shown at the name of that object, not at the first thing in it.
  return part === 'value' && isWhole ? here.value : (here.key ?? here.value);
}

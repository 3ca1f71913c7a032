/** The positions of the values of a document, as a tree. An alias shares the branch of its anchor. */
import type { Path } from '../place.ts';

export interface PositionTree {
  /** The offset of the value in the text. */
  readonly value: number;
  /** The offset of the value's key, if it has one. */
  readonly key?: number;
  readonly children?: ReadonlyMap<string | number, PositionTree>;
}

/** Returns the offset of a value. If the value does not exist, returns the offset of the nearest enclosing value. */
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
  // If a value is missing in an object, the result is the offset of the object's key, not of the object's first field.
  return part === 'value' && isWhole ? here.value : (here.key ?? here.value);
}

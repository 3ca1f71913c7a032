/** The positions of the values of a document, as a tree. An alias shares the branch of its anchor. */
import type { Path } from '../place.ts';

export interface PositionTree {
  /** Offset of the value in the text. */
  readonly value: number;
  /** Offset of its key, when it has one. */
  readonly key?: number;
  readonly children?: ReadonlyMap<string | number, PositionTree>;
}

/** Returns the offset of a value; for one that does not exist, that of the nearest value around it. */
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
  // A value missing in an object is shown at the name of the object, not at its first field.
  return part === 'value' && isWhole ? here.value : (here.key ?? here.value);
}

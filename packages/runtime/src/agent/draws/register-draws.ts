/**
 * Collects the draws that extensions take while they are loaded, so that the recordings of turns contain these draws.
 */
import type { Draw, DrawKind, DrawnValues, DrawScope } from '../../trace/draw-scope.ts';

/** The maximum number of draws kept for one extension. */
const MOST_DRAWN = 100;
const LONGEST_DRAWN = 2_048;

export class RegisterDraws {
  readonly #drawn = new WeakMap<DrawScope, Draw[]>();

  /** Makes a scope for one load of an extension. */
  newScope(): DrawScope {
    const drawn: Draw[] = [];
    const scope: DrawScope = {
      draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
        const value = make();
        const isLong = typeof value === 'string' && value.length > LONGEST_DRAWN;
        // Safe: the value belongs to its kind, but the compiler cannot infer that for a type parameter.
        if (drawn.length < MOST_DRAWN && !isLong) drawn.push([kind, value] as unknown as Draw);
        return value;
      },
    };
    this.#drawn.set(scope, drawn);
    return scope;
  }

  /** Returns the draws so far of a scope. Timers that the extension set while it was loaded may add more later. */
  of(scope: DrawScope): readonly Draw[] {
    return [...(this.#drawn.get(scope) ?? [])];
  }
}

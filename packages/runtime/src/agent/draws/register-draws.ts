/** Keeps the draws of extensions while they are loaded, for the recordings of their turns. */
import type { Draw, DrawKind, DrawnValues, DrawScope } from '../../trace/draw-scope.ts';

/** At most 100 draws of one extension are kept. */
const MOST_DRAWN = 100;
const LONGEST_DRAWN = 2_048;

export class RegisterDraws {
  readonly #drawn = new Map<string, Draw[]>();

  scopeFor(extension: string): DrawScope {
    const drawn: Draw[] = [];
    this.#drawn.set(extension, drawn);
    return {
      draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
        const value = make();
        const isLong = typeof value === 'string' && value.length > LONGEST_DRAWN;
        // The value belongs to its kind, which the compiler cannot infer for a type parameter.
        if (drawn.length < MOST_DRAWN && !isLong) drawn.push([kind, value] as unknown as Draw);
        return value;
      },
    };
  }

  /** Returns the draws so far. Timers that the extension set while it was loaded may draw more. */
  of(extension: string): readonly Draw[] {
    return [...(this.#drawn.get(extension) ?? [])];
  }
}

/** What extensions draw from the clock and from chance while they are loaded, for the recordings of their turns. */
import type { Draw, DrawKind, DrawnValues, DrawScope } from '../../trace/draw-scope.ts';

/** Of one extension; what it draws past it is not kept. */
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
        // A pair of a kind and its value, which the compiler cannot follow through a parameter.
        if (drawn.length < MOST_DRAWN && !isLong) drawn.push([kind, value] as unknown as Draw);
        return value;
      },
    };
  }

  /** What it has drawn so far. Timers that it set while it was loaded may draw more. */
  of(extension: string): readonly Draw[] {
    return [...(this.#drawn.get(extension) ?? [])];
  }
}

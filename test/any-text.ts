/**
 * Texts of any code points, from all planes of Unicode. `fc.string({ unit: 'binary' })` makes the same texts, but takes
 * almost a second of processor time to build its table, once in every test file.
 */
import fc from 'fast-check';

const codePoint = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0x80, max: 0xd7ff }),
  // Between the two are the halves of surrogate pairs, which are no characters of their own.
  fc.integer({ min: 0xe000, max: 0x10ffff }),
);

const character = codePoint.map(
  (code) => String.fromCodePoint(code),
  // Tells fast-check that texts such as `__proto__` can be made of these characters, so that it tries them. No
  // character has the code -1.
  (text) => {
    const code = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1;
    return code >= 0 && String.fromCodePoint(code) === text ? code : -1;
  },
);

export function anyText(constraints: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: character });
}

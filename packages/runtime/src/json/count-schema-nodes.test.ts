import { describe, expect, test } from 'bun:test';
import { countSchemaNodes, MOST_SCHEMA_NODES } from './count-schema-nodes.ts';

const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }]));
const references = (count: number, $ref: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`r${index}`, { $ref }]));
/** Creates a schema in which each part refers twice to the next part. It has 2 to the power of `length` nodes. */
const doubling = (length: number, name: (index: number) => object, refTo: (index: number) => string) => ({
  $ref: refTo(0),
  $defs: Object.fromEntries(
    Array.from({ length }, (_, index) => {
      const next = { $ref: refTo(index + 1) };
      return [`d${index}`, index === length - 1 ? name(index) : { ...name(index), anyOf: [next, next] }];
    }),
  ),
});

describe('the nodes of a schema', () => {
  test('are its values, and those of each $ref once more', () => {
    expect(countSchemaNodes({ type: 'object' })).toBe(2);
    expect(countSchemaNodes({ properties: properties(3) })).toBe(1 + 1 + 3 * 2);
    // The nodes are `$defs`, the part and its type, and two references. Each reference is a text, and counts the part
    // with its type again.
    const twice = { $defs: { a: { type: 'string' } }, properties: references(2, '#/$defs/a') };
    expect(countSchemaNodes(twice)).toBe(1 + 3 + 1 + 2 * (2 + 2));
  });

  test('a part that refers to itself is followed once', () => {
    const tree = { properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } } };
    expect(countSchemaNodes(tree)).toBeLessThan(30);
  });

  test('a reference to an enclosing part counts as one more', () => {
    // The nodes are the root, `items`, its `$ref`, and the root once more. In that second root, the reference is not
    // followed again.
    expect(countSchemaNodes({ items: { $ref: '#' } })).toBe(3 + 3 + 1);
  });

  test('a reference to a name of two parts cannot be counted', () => {
    const part = { $id: 'same', type: 'string' };
    expect(countSchemaNodes({ $ref: 'same', $defs: { a: part } })).toBeLessThan(20);
    expect(countSchemaNodes({ $ref: 'same', $defs: { a: part, b: { ...part } } })).toBe(Infinity);
  });

  test('300 references to 900 properties are too many, and the count ends at the limit', () => {
    const bomb = { $defs: { b: { properties: properties(900) } }, properties: references(300, '#/$defs/b') };
    expect(JSON.stringify(bomb).length).toBeLessThan(44 * 1_024);
    expect(countSchemaNodes(bomb)).toBe(Infinity);
    let reads = 0;
    const counted = Object.defineProperty({}, 'b', {
      enumerable: true,
      get: () => void (reads += 1),
    });
    const referring = { $defs: { b: counted }, properties: references(300, '#/$defs/b') };
    expect(countSchemaNodes(referring)).toBeLessThan(MOST_SCHEMA_NODES);
    // The part is read three times: to find the names, to count the part in place, and once for all references to it.
    expect(reads).toBe(3);
  });

  test.each([
    ['by pointer', () => ({}), (index: number) => `#/$defs/d${index}`],
    ['by an escaped pointer', () => ({}), (index: number) => `#/%24defs/%64${index}`],
    ['by $anchor', (index: number) => ({ $anchor: `d${index}` }), (index: number) => `#d${index}`],
    ['by $id', (index: number) => ({ $id: `d${index}` }), (index: number) => `d${index}`],
    [
      'by an address',
      (index: number) => ({ $id: `https://a.example/d${index}` }),
      (index: number) => `HTTPS://A.example/d${index}`,
    ],
  ])('parts that double 25 times are too many: %s', (_how, name, refTo) => {
    const bomb = doubling(26, name, refTo);
    expect(JSON.stringify(bomb).length).toBeLessThan(4_096);
    expect(countSchemaNodes(bomb)).toBe(Infinity);
  });

  test('a schema that is nested too deep has too many', () => {
    let nested: object = { type: 'string' };
    for (let level = 0; level < 10_000; level++) nested = { not: nested };
    expect(countSchemaNodes(nested)).toBe(Infinity);
  });

  test('a reference to nothing counts as a text', () => {
    expect(countSchemaNodes({ examples: [{ $ref: '#/nowhere' }, { $ref: 'https://a.example/pet' }] })).toBe(6);
  });
});

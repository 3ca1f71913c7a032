import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { anyText } from '../../../../../test/any-text.ts';
import { ToolNames } from './tool-names.ts';

/** Matches the names that both the runtime and the providers accept. */
const accepted = /^(?=.{1,64}$)[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;

function nameAll(tools: readonly string[], extension = 'files', reserved: readonly string[] = []): string[] {
  const names = new ToolNames(extension, reserved);
  names.assign(tools);
  return tools.map((tool) => names.of(tool));
}

describe('the names of tools', () => {
  test('B-06 a valid name is kept', () => {
    expect(nameAll(['read_file', 'get-env', 'X1'])).toEqual(['files__read_file', 'files__get-env', 'files__X1']);
  });

  test('B-06 any other is changed, always in the same way', () => {
    const odd = ['a.b/c', '__x__', 'a__b', 'über', ' ', 'x'.repeat(100)];
    expect(nameAll(odd)).toEqual([
      expect.stringMatching(/^files__a-b-c-[0-9a-f]{8}$/),
      expect.stringMatching(/^files__x-[0-9a-f]{8}$/),
      expect.stringMatching(/^files__a_b-[0-9a-f]{8}$/),
      expect.stringMatching(/^files__-ber-[0-9a-f]{8}$/),
      expect.stringMatching(/^files__--[0-9a-f]{8}$/),
      expect.stringMatching(/^files__x{48}-[0-9a-f]{8}$/),
    ]);
    expect(nameAll(odd.toReversed()).toReversed()).toEqual(nameAll(odd));
  });

  test('B-06 no two tools share a name: not by accident, not on purpose, and not with ours', () => {
    const [odd = ''] = nameAll(['a.b']);
    const taken = odd.replace('files__', '');
    const [first, second] = nameAll(['a.b', taken]);
    expect(second).toBe(`files__${taken}`);
    expect(first).toMatch(/^files__a-b-[0-9a-f]{9}$/);
    expect(nameAll(['read_resource'], 'files', ['read_resource'])[0]).toMatch(/^files__read_resource-[0-9a-f]{8}$/);
  });

  test('a tool keeps its name when others are added', () => {
    const names = new ToolNames('files', []);
    names.assign(['a.b']);
    const before = names.of('a.b');
    names.assign([before.replace('files__', ''), 'a.b']);
    expect(names.of('a.b')).toBe(before);
    expect(names.of(before.replace('files__', ''))).not.toBe(before);
  });

  test('B-06 for any names of a server: all are accepted by providers, and different', () => {
    const name = fc.oneof(anyText(), fc.stringMatching(/^[\w./ -]{0,80}$/));
    const extension = fc.stringMatching(/^[a-z][a-z0-9-]{0,39}$/);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 30 }), extension, (tools, prefix) => {
        const given = nameAll(tools, prefix, ['read_resource']);
        expect(given.filter((each) => !accepted.test(each))).toEqual([]);
        expect(new Set(given).size).toBe(tools.length);
      }),
      { numRuns: 300 },
    );
  });
});

import { describe, expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import fc from 'fast-check';
import { samples } from '../../../../../../test/samples.ts';
import { stringify } from 'yaml';
import { yamlLimits } from './limits.ts';
import { readYaml } from './read-yaml.ts';

const valuesOf = (text: string): JsonValue[] => readYaml(text, 'a.yaml').documents.map(({ value }) => value);

/** Lists the faults of a text as `code file:line:column`. */
function faultsOf(text: string): string[] {
  return readYaml(text, 'a.yaml').findings.map(
    ({ problem: { code, line, column, file } }) => `${code} ${file}:${line}:${column}`,
  );
}

describe('a YAML file', () => {
  test('R-04 may hold several documents, block texts, anchors and comments', () => {
    const text =
      '# first\nsystem: |\n  You are\n  careful.\nlist: &l [1, 2.5, true, null, ~]\nagain: *l\n---\nb: "2"\n---\n';
    expect(valuesOf(text)).toEqual([
      { system: 'You are\ncareful.\n', list: [1, 2.5, true, null, null], again: [1, 2.5, true, null, null] },
      { b: '2' },
    ]);
    expect(faultsOf(text)).toEqual([]);
  });

  test.each(['', '# nothing\n', '---\n---\n', '\n\n...\n'])('%j has no documents', (text) => {
    expect(readYaml(text, 'a.yaml')).toMatchObject({ documents: [], findings: [] });
  });

  test('dates stay texts, and all keys become texts', () => {
    expect(valuesOf('on: 2024-01-01\n1: a\ntrue: b\nnull: c\n')).toEqual([
      { on: '2024-01-01', '1': 'a', true: 'b', null: 'c' },
    ]);
  });

  test('R-04 gives the place of each value and each key', () => {
    const [document] = readYaml('a:\n  b: [x, y]\n  c:\n', 'a.yaml').documents;
    const at = (path: (string | number)[], part?: 'key' | 'value') => {
      const { line, column } = document?.placeOf(path, part) ?? { line: 0, column: 0 };
      return `${line}:${column}`;
    };
    expect(at([])).toBe('1:1');
    expect(at(['a'], 'key')).toBe('1:1');
    expect(at(['a', 'b'], 'key')).toBe('2:3');
    expect(at(['a', 'b', 1])).toBe('2:10');
    expect(at(['a', 'missing'])).toBe('1:1');
    expect(at(['a', 'b', 'missing', 'deeper'])).toBe('2:3');
  });

  test('R-04 an aliased value has the place of its anchor', () => {
    const [document] = readYaml('a: &x\n  b: 1\nc: *x\n', 'a.yaml').documents;
    expect(document?.placeOf(['c', 'b'], 'key')).toEqual({ file: 'a.yaml', line: 2, column: 3 });
    expect(document?.placeOf(['c'], 'key')).toEqual({ file: 'a.yaml', line: 3, column: 1 });
  });

  test('any JSON written as YAML is read back unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain: JsonValue = JSON.parse(JSON.stringify(value));
        fc.pre(plain !== null && !/__proto__|constructor|prototype|"<<"/.test(JSON.stringify(plain)));
        expect(readYaml(stringify(plain), 'a.yaml')).toMatchObject({ documents: [{ value: plain }], findings: [] });
      }),
      { numRuns: samples(200) },
    );
  });
});

describe('a YAML file is rejected, with a place,', () => {
  test.each([
    ['a: 1\nb: [1, 2\n', ['E_YAML_SYNTAX a.yaml:3:1']],
    ['a: 1\n b: 2\n', ['E_YAML_SYNTAX a.yaml:1:4']],
    ['a: "x\n', ['E_YAML_SYNTAX a.yaml:2:1']],
    ['a: @x\n', ['E_YAML_SYNTAX a.yaml:1:4']],
    ['a: 1\nb: 2\na: 3\n', ['E_YAML_KEY a.yaml:3:1']],
    ['x: {__proto__: {polluted: 1}}\n', ['E_YAML_KEY a.yaml:1:5']],
    ['constructor: 1\nprototype: 2\n', ['E_YAML_KEY a.yaml:1:1', 'E_YAML_KEY a.yaml:2:1']],
    ['"__pro\\u0074o__": 1\n', ['E_YAML_KEY a.yaml:1:1']],
    ['a: &a {b: 1}\nc:\n  <<: *a\n', ['E_YAML_KEY a.yaml:3:3']],
    ['a: .nan\nb: .inf\n', ['E_YAML_SYNTAX a.yaml:1:4', 'E_YAML_SYNTAX a.yaml:2:4']],
    ['a: *nobody\n', ['E_YAML_SYNTAX a.yaml:1:4']],
    ['a: &a [*a]\n', ['E_YAML_SYNTAX a.yaml:1:8']],
    ['a: !run whoami\n', ['E_YAML_SYNTAX a.yaml:1:4']],
    ['a: !!binary aGk=\n', ['E_YAML_SYNTAX a.yaml:1:4']],
    ['%YAML 1.1\n---\na: yes\n', ['E_YAML_SYNTAX a.yaml:1:1']],
    ['a: 1\n---\nb: {\n---\nc: 3\n', ['E_YAML_SYNTAX a.yaml:4:1']],
  ])('R-04 when it is %j', (text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });

  test('R-04 when a key is not a text', () => {
    expect(faultsOf('? [a]\n: 1\n').map((fault) => fault.split(' ')[0])).toContain('E_YAML_KEY');
  });

  test('R-04 and a broken document does not hide the others', () => {
    const { documents } = readYaml('kind: A\n---\nkind: B\nx: [\n---\nkind: C\n', 'a.yaml');
    expect(documents.map(({ isBroken }) => isBroken)).toEqual([false, true, false]);
    expect(documents[2]?.value).toEqual({ kind: 'C' });
  });
});

describe('YAML over a limit is rejected at once, at the place that exceeds it:', () => {
  const { depth, documents, aliases } = yamlLimits;
  const nested = (levels: number) => `a: ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}\n`;

  test('exactly at the limits nothing is rejected', () => {
    expect(faultsOf(nested(depth))).toEqual([]);
    expect(faultsOf('---\na: 1\n'.repeat(documents))).toEqual([]);
    expect(faultsOf(`a: &a 1\nb: [${'*a, '.repeat(aliases)}]\n`)).toEqual([]);
  });

  test('one more than a limit is rejected', () => {
    expect(faultsOf(nested(depth + 1))).toEqual([`E_YAML_LIMIT a.yaml:1:${3 + depth}`]);
    expect(faultsOf('---\na: 1\n'.repeat(documents + 1))).toEqual([`E_YAML_LIMIT a.yaml:${2 * documents + 1}:1`]);
    expect(faultsOf(`a: &a 1\nb: [${'*a, '.repeat(aliases + 1)}]\n`)).toEqual(['E_YAML_LIMIT a.yaml:2:405']);
    expect(faultsOf(`a: &a ${'['.repeat(40)}${']'.repeat(40)}\nb: ${'['.repeat(40)}*a${']'.repeat(40)}\n`)).toEqual([
      'E_YAML_LIMIT a.yaml:2:44',
    ]);
  });

  test.each([
    ['brackets', '['.repeat(100_000)],
    ['closed brackets', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['braces', '{a: '.repeat(100_000)],
    ['dashes', '- '.repeat(100_000)],
    ['questions', '? '.repeat(100_000)],
    ['indents', Array.from({ length: 1_300 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')],
    ['keys', Array.from({ length: 120_000 }, (_, index) => `k${index}: 1`).join('\n')],
    ['laughs', `a: &a [x]\n${laughs(9, 9)}`],
    ['quadratic laughs', `a: &a [${'x, '.repeat(2_000)}]\nb: [${'*a, '.repeat(90)}]\n`],
    ['documents', '---\na: 1\n'.repeat(50_000)],
  ])('%s', (_name, text) => {
    const faults = faultsOf(text);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toStartWith('E_YAML_LIMIT a.yaml:');
  });
});

/** Creates aliases. Each line repeats the line before it `times` times. */
function laughs(lines: number, times: number): string {
  return Array.from({ length: lines }, (_, line) => {
    const [name, before] = [String.fromCodePoint(98 + line), String.fromCodePoint(97 + line)];
    return `${name}: &${name} [${Array.from({ length: times }, () => `*${before}`).join(', ')}]\n`;
  }).join('');
}

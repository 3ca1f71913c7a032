import { describe, expect, test } from 'bun:test';
import { fingerprintOf } from './fingerprint.ts';
import { judgeTools, type Knowledge, MOST_SEEN, MOST_TOOLS } from './judge-tools.ts';
import type { ListedTool } from './mcp-client.ts';

const tool = (name: string, description = 'Does it.', more: Partial<ListedTool> = {}): ListedTool => ({
  name,
  description,
  inputSchema: { type: 'object' },
  ...more,
});
const knowing = (more: Partial<Knowledge> = {}): Knowledge => ({
  seen: new Map(),
  approved: new Map(),
  trust: 'first-use',
  filter: {},
  ...more,
});
const names = (tools: readonly ListedTool[]) => tools.map(({ name }) => name);

describe('a fingerprint', () => {
  const changes: [string, ListedTool][] = [
    ['name', tool('b')],
    ['description', tool('a', 'Does it. \u200b')],
    ['schema', tool('a', 'Does it.', { inputSchema: { type: 'object', required: ['x'] } })],
    ['hint', tool('a', 'Does it.', { annotations: { readOnlyHint: true } })],
  ];

  test.each(changes)('differs when the %s differs', (_what, changed) => {
    expect(fingerprintOf(changed)).not.toBe(fingerprintOf(tool('a')));
  });

  test('is the same in any order of keys', () => {
    const one = tool('a', 'Does it.', { inputSchema: { type: 'object', title: 'x' } });
    const other = tool('a', 'Does it.', { inputSchema: { title: 'x', type: 'object' } });
    expect(fingerprintOf(one)).toBe(fingerprintOf(other));
  });
});

describe('the offered tools', () => {
  test('are those seen first, in their first version', () => {
    const first = judgeTools([tool('a'), tool('b')], knowing());
    expect(names(first.offered)).toEqual(['a', 'b']);
    const second = judgeTools([tool('a', 'Another.'), tool('b'), tool('c')], knowing({ seen: first.seen }));
    expect(names(second.offered)).toEqual(['b', 'c']);
    expect(second.withheld).toMatchObject([{ tool: { name: 'a' }, reason: 'changed' }]);
    // The first version remains the reference for later changes.
    expect(second.seen.get('a')).toBe(fingerprintOf(tool('a')));
  });

  test('a tool that is removed and comes back changed counts as changed', () => {
    const { seen } = judgeTools([tool('a')], knowing());
    const gone = judgeTools([], knowing({ seen }));
    expect(judgeTools([tool('a', 'Another.')], knowing({ seen: gone.seen })).withheld).toHaveLength(1);
  });

  test('an approval overrides the first version', () => {
    const { seen } = judgeTools([tool('a')], knowing());
    const approved = new Map([['a', fingerprintOf(tool('a', 'Another.'))]]);
    expect(names(judgeTools([tool('a', 'Another.')], knowing({ seen, approved })).offered)).toEqual(['a']);
    expect(judgeTools([tool('a')], knowing({ seen, approved })).withheld).toMatchObject([{ reason: 'changed' }]);
  });

  test('pinned: only approved tools; any: all', () => {
    const approved = new Map([['a', fingerprintOf(tool('a'))]]);
    const pinned = judgeTools([tool('a'), tool('b')], knowing({ approved, trust: 'pinned' }));
    expect(names(pinned.offered)).toEqual(['a']);
    expect(pinned.withheld).toMatchObject([{ tool: { name: 'b' }, reason: 'unapproved' }]);
    const any = judgeTools([tool('a', 'Another.'), tool('b')], knowing({ approved, trust: 'any' }));
    expect(names(any.offered)).toEqual(['a', 'b']);
  });

  test('a name like `constructor` is a name like any other', () => {
    const { seen, offered } = judgeTools([tool('__proto__'), tool('constructor')], knowing());
    expect(names(offered)).toEqual(['__proto__', 'constructor']);
    expect(judgeTools([tool('__proto__', 'Another.')], knowing({ seen })).withheld).toHaveLength(1);
  });

  test('have each name once, up to a limit', () => {
    expect(judgeTools([tool('a'), tool('a', 'Another.')], knowing()).offered).toEqual([tool('a')]);
    const many = Array.from({ length: MOST_TOOLS + 1 }, (_, index) => tool(`tool-${index}`));
    expect(judgeTools(many, knowing()).offered).toHaveLength(MOST_TOOLS);
  });

  test.each(['first-use', 'any'] as const)(
    '%s: a server with too many tools so far needs approval for more',
    (trust) => {
      const seen = new Map(Array.from({ length: MOST_SEEN }, (_, index) => [`old-${index}`, 'sha256:0']));
      const { offered, withheld } = judgeTools([tool('new')], knowing({ seen, trust }));
      expect({ offered, reasons: withheld.map(({ reason }) => reason) }).toEqual({
        offered: [],
        reasons: ['unapproved'],
      });
    },
  );

  test.each([
    ['an invalid name', tool('')],
    ['a schema that is too large', tool('a', '', { inputSchema: { type: 'object', title: 'x'.repeat(70_000) } })],
    ['tasks only', tool('a', '', { execution: { taskSupport: 'required' } })],
  ])('exclude unusable ones: %s', (_what, unusable) => {
    const { offered, withheld } = judgeTools([unusable], knowing({ trust: 'any' }));
    expect({ offered, reasons: withheld.map(({ reason }) => reason) }).toEqual({ offered: [], reasons: ['unusable'] });
  });

  test.each([
    [{}, ['read_file', 'read.all', 'write/file']],
    [{ allow: ['read*'] }, ['read_file', 'read.all']],
    [{ allow: ['read.all'] }, ['read.all']],
    [{ allow: ['read?all'] }, ['read.all']],
    [{ allow: ['*'], deny: ['*file'] }, ['read.all']],
    [{ allow: [] }, []],
    [{ deny: ['read'] }, ['read_file', 'read.all', 'write/file']],
  ])('patterns: %j', (filter, expected) => {
    const listed = ['read_file', 'read.all', 'write/file'].map((name) => tool(name));
    expect(names(judgeTools(listed, knowing({ filter })).offered)).toEqual(expected);
  });
});

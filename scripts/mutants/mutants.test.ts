import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTree, withProject } from '../read-doors.ts';
import { listFiles } from '../shape.ts';
import { chooseTests, startedBy } from './choose-tests.ts';
import { Coverage, joinLines } from './coverage.ts';
import { applyMutant, listMutants } from './list-mutants.ts';
import { compareResults, parseResults, renderResults, renderTable } from './results.ts';

const folder = mkdtempSync(join(tmpdir(), 'gdn-mutants-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the key of each mutant of a source, and the line that it changes. */
async function mutate(source: string): Promise<[key: string, changed: string][]> {
  const name = `${crypto.randomUUID()}.tsx`;
  await Bun.write(join(folder, name), source);
  return withProject(folder, [name], async (project) => {
    const mutants = listMutants(await readTree(project, join(folder, name)));
    return mutants.map((mutant) => [mutant.key, applyMutant(source, mutant).split('\n')[mutant.line - 1] ?? '']);
  });
}

describe('listMutants', () => {
  test('negates conditions, removes statements, and changes constants and signs', async () => {
    const source = `export function rest(a: number, b?: string): number {
  if (a < 3) return a;
  count(b ?? 'none');
  return b === undefined || !b ? a + 1 : 0;
}`;
    expect(await mutate(source)).toEqual([
      ['rest remove if a<3', '  ;'],
      ['rest negate a<3', '  if (!(a < 3)) return a;'],
      ['rest < a<3', '  if (((a) <= (3))) return a;'],
      ['rest constant 3', '  if (a < (3 + 1)) return a;'],
      ['rest remove returna;', '  if (a < 3) ;'],
      ["rest remove count(b??'none');", '  ;'],
      ["rest ?? b??'none'", "  count(((b) && ('none')));"],
      ["rest constant 'none'", "  count(b ?? 'none~');"],
      ['rest remove returnb===undefined||!b?a+1:0;', '  ;'],
      ['rest negate b===undefined||!b', '  return !(b === undefined || !b) ? a + 1 : 0;'],
      ['rest || b===undefined||!b', '  return ((b === undefined) && (!b)) ? a + 1 : 0;'],
      ['rest === b===undefined', '  return ((b) !== (undefined)) || !b ? a + 1 : 0;'],
      ['rest ! !b', '  return b === undefined || (b) ? a + 1 : 0;'],
      ['rest + a+1', '  return b === undefined || !b ? ((a) - (1)) : 0;'],
      ['rest constant 1', '  return b === undefined || !b ? a + (1 + 1) : 0;'],
      ['rest constant 0', '  return b === undefined || !b ? a + 1 : (0 + 1);'],
    ]);
  });

  test('leaves types, names, imports, texts for people and the ends of loops alone', async () => {
    const source = `import { log } from './log.ts';
export type Mode = 'on' | 'off';
interface Options { readonly mode: 'on' }
class Ready extends Error { constructor(readonly options: Options) { super(); } }
export const view = (list: 'a'[]) => <p title="title">{'two words'}{\`x\${list}\`}</p>;
for (let at = from; at < to; at++) while (at) load('a sentence, ' + at, './part.ts');
const { 0: first, 'key': second } = list;`;
    expect((await mutate(source)).map(([key]) => key)).toEqual([
      ' < at<to',
      " remove load('asentence,'+at,'./part.ts');",
    ]);
  });

  test('the key of a mutant stays the same when its code moves and is formatted differently', async () => {
    const source = `export class Gate { open() { check(this.key, [1, 2]); } }`;
    const moved = `// A comment.
export const other = [];
export class Gate {
  open() {
    check(
      // Why.
      this.key,
      [1, 2],
    );
  }
}`;
    const keys = (await mutate(source)).map(([key]) => key);
    expect(keys).toEqual(['Gate.open remove check(this.key,[1,2]);', 'Gate.open constant 1', 'Gate.open constant 2']);
    expect((await mutate(moved)).map(([key]) => key)).toEqual(keys);
  });
});

describe('the tests of a mutant', () => {
  const reaching = (path: string, distance: number, ms: number) => ({ path, distance, ms });

  test('are those that execute its line, nearest first, as long as they are few and cheap', () => {
    const near = reaching('near.test.ts', 0, 7_000);
    const blind = reaching('blind.test.ts', 1, 10);
    const slow = reaching('slow.test.ts', 2, 2_000);
    const cheap = Array.from({ length: 20 }, (_, index) => reaching(`cheap-${index}.test.ts`, 3, 50 + index));
    const { files, ms } = chooseTests([slow, ...cheap, blind, near], (path) => path !== blind.path);
    expect(files).toEqual([...cheap.slice(0, 11).map(({ path }) => path), near.path]);
    expect(ms).toBe(7_000 + 11 * 50 + 55);
  });

  test('are also those that start a process with the module, and the nearest one, however slow', () => {
    const slow = reaching('slow.process.test.ts', 1, 15_000);
    const other = reaching('other.test.ts', 1, 10);
    expect(chooseTests([slow, other], () => undefined)).toEqual({ files: [slow.path], ms: 15_000 });
    expect(chooseTests([slow, other], () => false).files).toEqual([]);
  });

  test('are known until the test or the module changes', () => {
    const hashes = new Map([['a.test.ts', '1']]);
    const coverage = () => new Coverage(join(folder, 'coverage'), (path) => hashes.get(path) ?? '');
    coverage().keep('a.test.ts', 'SF:packages/a.ts\nDA:3,1\nDA:4,0\nDA:7,2\nend_of_record\n');
    expect([1, 3, 4, 6, 7, 99].filter((line) => coverage().executes('a.test.ts', 'packages/a.ts', line))).toEqual([
      1, 3, 7, 99,
    ]);
    expect(coverage().executes('a.test.ts', 'packages/b.ts', 1)).toBeUndefined();
    expect(coverage().isKnown('a.test.ts', 'packages/a.ts')).toBe(true);
    hashes.set('packages/a.ts', '2');
    expect(coverage().isKnown('a.test.ts', 'packages/a.ts')).toBe(false);
    expect(coverage().isKnown('a.test.ts', 'packages/b.ts')).toBe(true);
    hashes.set('a.test.ts', '2');
    expect(coverage().isKnown('a.test.ts', 'packages/b.ts')).toBe(false);
  });

  test('of a module that only a process starts with exist, and so does the module', () => {
    const files = listFiles();
    const broken = Object.entries(startedBy).filter(
      ([module, tests]) => !files.includes(module) || !files.some((path) => new Bun.Glob(tests).match(path)),
    );
    expect(broken).toEqual([]);
  });

  test('lines without a count belong to the line above', () => {
    expect(
      joinLines([
        [2, 1],
        [3, 1],
        [6, 0],
        [8, 5],
      ]),
    ).toBe('1-5,8-99999');
  });
});

describe('the results', () => {
  test('are written and read, with reasons', () => {
    const results = parseResults('# text\n0123456789 s it only logs\n00aabbccdd k\n');
    expect([...results]).toEqual([
      ['0123456789', { letter: 's', reason: 'it only logs' }],
      ['00aabbccdd', { letter: 'k' }],
    ]);
    expect(renderResults(results).split('\n').slice(1)).toEqual(['00aabbccdd k', '0123456789 s it only logs', '']);
  });

  test('are worse if a killed mutant survives or is not reached', () => {
    const before = parseResults('000000000a k\n000000000b t\n000000000c s\n000000000d k\n');
    const now = parseResults('000000000a s\n000000000b n\n000000000c s\n000000000d t\n');
    expect(compareResults(before, now)).toEqual({ lost: ['000000000a', '000000000b'], unexplained: [] });
  });

  test('are worse if too few new mutants are killed, or one survives without a reason', () => {
    const lines = Array.from({ length: 17 }, (_, index) => `${String(index).padStart(10, '0')} k`);
    const explained = ['00000000aa s a reason', '00000000ab s a reason', '00000000ac n'];
    expect(compareResults(new Map(), parseResults([...lines, ...explained].join('\n')))).toEqual({
      lost: [],
      unexplained: [],
    });
    expect(compareResults(new Map(), parseResults([...lines, '00000000aa s'].join('\n')))).toEqual({
      lost: [],
      unexplained: ['00000000aa'],
    });
    expect(compareResults(new Map(), parseResults([...lines.slice(8), ...explained].join('\n')))).toEqual({
      lost: [],
      unexplained: [],
      tooFew: 9 / 11,
    });
  });

  test('are counted for each package', () => {
    expect(
      renderTable([
        ['b', 'k'],
        ['a', 's'],
        ['b', 'n'],
        ['b', 't'],
        ['b', 's'],
      ]),
    ).toMatchInlineSnapshot(`
      "                 mutants      killed    survived   timed out not reached      caught
      a                      1           0           1           0           0       0.0 %
      b                      4           1           1           1           1      66.7 %
      all                    5           1           2           1           1      50.0 %"
    `);
  });
});

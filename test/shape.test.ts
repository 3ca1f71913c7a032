// Holds the repository to the budgets of shape.json, and checks the counting on files whose numbers are known.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { budgets, isCounted, listExcesses, measureShape, measureSources } from '../scripts/shape.ts';

const folder = mkdtempSync(join(tmpdir(), 'gdn-shape-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('no number is above its budget in shape.json', async () => {
  expect(listExcesses(await measureShape(), budgets)).toEqual([]);
});

test('a number above its budget, without a budget, or that nothing counts is reported with what to do', () => {
  const shape = { words: { total: 12 }, files: { total: 3 }, options: { total: 5 } };
  expect(listExcesses(shape, { words: 10, files: 3, commands: 7 })).toEqual([
    'words: 12, the budget is 10. Take 2 away; `npm run shape` shows each package.',
    'options has no budget. Add it to shape.json: 5.',
    'shape.json has a budget for commands, which nothing counts. Remove it.',
  ]);
});

test('production code is what packages contain, without tests and what only tests use', () => {
  const counted = ['packages/one/src/deep/code.ts', 'packages/one/bin/run.cjs', 'packages/one/src/look.css'];
  const others = [
    'test/swarm.ts',
    'packages/one/src/code.test.ts',
    'packages/one/schema/s.ts',
    'packages/one/src/a.md',
  ];
  const kits = ['testing', 'simulation', 'wire', 'fixtures'].map((name) => `packages/one/src/${name}/kit.ts`);
  expect([...counted, ...others, ...kits].filter(isCounted)).toEqual(counted);
});

/** The numbers of lines and types, and the text of each file. */
const files: Readonly<Record<string, readonly [codeLines: number, namedTypes: number, text: string]>> = {
  // A comment sign inside a literal is not a comment, and a blank line inside a literal is not code.
  'code.ts': [
    9,
    2,
    `/** A comment that names \`interface NotCounted\`,
 * and says “it’s over” // once. */
export interface Open { readonly a: string } // after code
export type Whole = { a: 1; b: 2 };

export const texts = ['// no', "/* no", /[/]\\/*[*]/g, \`\${
  // a comment in a hole
  1
} // no

/* no */\`, 'ö // no'];
/* before code */ export function divide(given: { a: 1 }, small: { a: 1 }) {
  // a comment
  return given.a / small.a / 2;
}
`,
  ],
  'view.tsx': [
    6,
    0,
    `export function View() {
  return (
    <p title="// no">// text, and no comment
    </p>
  );
}
`,
  ],
  'look.css': [3, 0, `/* a comment */\na::before {\n  content: "/* no */";\n}\n`],
  'run.mjs': [1, 0, 'export const runs = true;\n'],
};

test('counts the lines of code and the named types of modules and style sheets', async () => {
  for (const [name, [, , text]] of Object.entries(files)) await Bun.write(join(folder, name), text);
  const measured = await measureSources(folder, Object.keys(files));
  const expected = Object.entries(files).map(([name, [codeLines, namedTypes]]) => [name, { codeLines, namedTypes }]);
  expect(Object.fromEntries(measured)).toEqual(Object.fromEntries(expected));
});

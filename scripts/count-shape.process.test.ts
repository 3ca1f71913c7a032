// Counts a small package whose numbers are known.
import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { countShape } from './count-shape.ts';

const files: Readonly<Record<string, string>> = {
  'packages/one/package.json': JSON.stringify({
    name: '@goondan/one',
    exports: { '.': './src/index.ts', './data.json': './data.json' },
  }),
  // This file has 3 lines of code. `Local` is a value in its own file, and is exported here as a type.
  'packages/one/src/index.ts': `export * from './code.ts';
export type { Local as OnlyType } from './local.ts';
export { Local } from './local.ts';
`,
  // This file has 1 line of code.
  'packages/one/src/local.ts': 'export class Local {}\n',
  // This file has 9 lines of code and 4 lines of comments. A comment sign inside a literal is not a comment, and a
  // blank line inside a literal is not code.
  'packages/one/src/code.ts': `/** A comment that names \`interface NotCounted\`,
 * and says “it’s over” // once. */
export interface OpenChain { readonly a: string } // after code
export type Whole = { a: 1; b: 2; c: 3; d: 4 };

export const chain = ['// no', "/* no", /[/]\\/*[*]/g, \`\${
  // a comment in a hole
  1
} // no

/* no */\`, 'ö // no'];
/* before code */ export function buildChain(given: { a: 1; b: 2; c: 3; d: 4 }, small: { a: 1; b: 2; c: 3 }) {
  // a comment
  const innerChain = given.a / small.a / 2; return innerChain;
}
`,
  // This file has 6 lines of code.
  'packages/one/src/view.tsx': `export function View() {
  return (
    <p title="// no">// text, and no comment
    </p>
  );
}
`,
  // This file has 3 lines of code and 1 line of comments.
  'packages/one/src/look.css': `/* a comment */
a::before {
  content: "/* no */";
}
`,
  'packages/one/bin/run.mjs': 'export const runs = true;\n',
  'packages/one/src/code.test.ts': 'export type NotCounted = 1;\n',
  'packages/one/src/testing/kit.ts': 'export type NotCounted = 1;\n',
  'packages/one/src/deep/wire/kit.ts': 'export type NotCounted = 1;\n',
};

test('counts lines, comments, types, names and doors of a known package', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-shape-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    expect(await countShape(folder)).toEqual({
      files: 6,
      'code lines': 23,
      '  of packages/one': 23,
      'comment lines': 5,
      'share of comments': '17.9 %',
      'named types': 2,
      '  interface': 1,
      '  type': 1,
      classes: 1,
      'anonymous types': 1,
      'names with Chain': 2,
      '  of types': 1,
      'door @goondan/one': '3 values, 3 types',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

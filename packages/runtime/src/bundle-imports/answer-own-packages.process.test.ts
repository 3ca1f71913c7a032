// Runs in a separate process, because resolving our own packages affects the whole process.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childFlags } from '../orchestrator/child/spawn-child.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-packages-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('bundle code gets the copy of its process, by every name, whatever is in its node_modules', async () => {
  const foreign = join(folder, 'node_modules/@goondan/types');
  mkdirSync(foreign, { recursive: true });
  writeFileSync(join(foreign, 'package.json'), '{ "name": "@goondan/types", "main": "index.js" }');
  writeFileSync(join(foreign, 'index.js'), 'export class GoondanError extends Error {}');
  writeFileSync(
    join(folder, 'bundle.ts'),
    `import { GoondanError, type JsonObject } from '@goondan/types';
     import * as core from '@goondan/core';
     import { Refusal } from '@goondan/types/http';
     export const classes: unknown[] = [GoondanError, core.GoondanError, Object.getPrototypeOf(Refusal)];`,
  );
  // The program runs in the folder of the sources, where our own packages are found. The bundle is in another folder.
  const program = `
    import { GoondanError } from '@goondan/types';
    import { answerOwnPackages } from './answer-own-packages.ts';
    answerOwnPackages();
    const { classes } = await import(${JSON.stringify(join(folder, 'bundle.ts'))});
    console.log(classes.map((each) => each === GoondanError).join());`;
  const child = Bun.spawn([process.execPath, ...childFlags, '-e', program], { cwd: import.meta.dir });
  expect((await child.stdout.text()).trim()).toBe('true,true,true');
});

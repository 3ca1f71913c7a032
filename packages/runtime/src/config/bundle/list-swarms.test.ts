import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSwarms } from './load-bundle.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'list-swarms-')));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the swarms of a bundle are listed even when the rest is wrong, without reading the rest', async () => {
  const head = 'apiVersion: goondan.ai/v1';
  writeFileSync(
    join(folder, 'goondan.yaml'),
    `${head}
kind: Swarm
metadata: { name: one }
spec: { entryAgent: Agent/nobody, agents: [{ ref: Agent/nobody, package: "@not/installed" }], workspace: shared }
---
${head}
kind: Agent
metadata: { name: 7 }
---
${head}
kind: Swarm
metadata: { name: wrong }
spec: { entryAgent: 7 }
---
just a text`,
  );
  writeFileSync(
    join(folder, 'more.yaml'),
    `${head}\nkind: Swarm\nmetadata: { name: two }\nspec: { entryAgent: Agent/a, agents: [Agent/a] }`,
  );
  writeFileSync(join(folder, 'broken.yaml'), 'kind: Swarm\nmetadata: [');
  writeFileSync(
    join(folder, 'twice.yaml'),
    `${head}\nkind: Swarm\nmetadata: { name: three }\nspec: { entryAgent: Agent/a, agents: [Agent/a] }\nspec: {}`,
  );
  const swarms = [{ name: 'one', workspace: 'shared' }, { name: 'two' }];
  expect(await loadSwarms(folder)).toEqual({ folder, swarms });
});

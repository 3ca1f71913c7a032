import { describe, expect, test } from 'bun:test';
import { sha256 } from '../../../json/sha256.ts';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { examineTexts } from './examine-texts.ts';

const code = 'export const handlers = { run: () => 1 };\n';
const edit = { 'tools/mine.ts': 'export const handlers = { run: () => 2 };\n' };
const head = (kind: string, name: string) => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const bundleWith = (tool: string, files: Readonly<Record<string, string>> = { 'tools/mine.ts': code }) =>
  temporaryBundle({
    'goondan.yaml': [
      `${head('Model', 'main')}spec: { provider: scripted, model: main, options: { script: [{ say: Hello. }] } }\n`,
      `${head('Agent', 'coder')}spec: { modelConfig: { modelRef: Model/main }, prompt: { system: Code. }, tools: [Tool/mine] }\n`,
      `${head('Swarm', 'default')}spec: { entryAgent: Agent/coder, agents: [Agent/coder] }\n`,
      `${head('Tool', 'mine')}spec: ${tool}\n`,
    ].join('---\n'),
    ...files,
  });
const exported = (more = '') => `{ entry: ./tools/mine.ts, exports: [{ name: run, description: Runs.${more} }] }`;

/** Changes the code of the tool, which an earlier changeset wrote with `written`. */
const change = async (folder: string, written = code) => {
  const source = { bundleFolder: folder, environment: {}, swarm: 'default' };
  const addedFiles = [{ path: 'tools/mine.ts', digest: sha256(written) }];
  const examined = await examineTexts(source, edit, { addedTools: ['mine'], addedFiles });
  return examined.status === 'fits' ? 'fits' : `${examined.reason}: ${examined.message}`;
};

describe('the code of a tool that a changeset added', () => {
  test.each([
    ['no effects', ''],
    ['external effects', ', effects: external'],
  ])('may change with %s', async (_, more) => {
    using bundle = bundleWith(exported(more));
    expect(await change(bundle.folder)).toBe('fits');
  });

  test('L-05 may not change after a person wrote other effects', async () => {
    using bundle = bundleWith(exported(', effects: none'));
    expect(await change(bundle.folder)).toMatch(/^policy_violation: tools\/mine\.ts is part of Tool\/mine/);
  });

  test('L-05 may not change after a person edited it', async () => {
    using bundle = bundleWith(exported());
    expect(await change(bundle.folder, 'export const handlers = {};\n')).toMatch(
      /^policy_violation: tools\/mine\.ts is part/,
    );
  });

  test('L-05 may not change if a person wrote another tool with its name', async () => {
    using bundle = bundleWith(exported().replace('mine.ts', 'theirs.ts'), {
      'tools/mine.ts': code,
      'tools/theirs.ts': "export { handlers } from './mine.ts';\n",
    });
    expect(await change(bundle.folder)).toMatch(/^policy_violation: tools\/mine\.ts is part of Tool\/mine/);
  });
});

import { describe, expect, test } from 'bun:test';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeBundle, completeEnvironment, temporaryBundle } from '../../testing/temporary-bundle.ts';
import { loadBundle } from './load-bundle.ts';

const load = (folder: string, environment: Record<string, string> = {}) => loadBundle(folder, { environment });
async function loadFiles(files: Readonly<Record<string, string>>, environment: Record<string, string> = {}) {
  using bundle = temporaryBundle(files);
  return await load(bundle.folder, environment);
}
const head = (kind: string, name: string) => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const script = 'spec: { provider: scripted, model: m, options: { script: [{ say: hi }] } }\n';

describe('a bundle', () => {
  test('R-04 consists of all YAML files of its folder, with any number of documents and all eight kinds', async () => {
    using bundle = temporaryBundle(completeBundle);
    const loaded = await load(bundle.folder, completeEnvironment);
    expect(loaded).toMatchObject({ folder: bundle.folder, valid: true, errors: [], warnings: [] });
    expect(loaded.resources.map(({ identity, document }) => `${document.file} ${identity}`)).toEqual([
      'goondan.yaml Model/demo',
      'goondan.yaml Model/claude',
      'goondan.yaml Swarm/default',
      'goondan.yaml Package/library',
      'agents.yaml Agent/host',
      'agents.yaml Agent/librarian',
      'parts.yml Tool/weather',
      'parts.yml Extension/logging',
      'parts.yml Extension/guard',
      'parts.yml Connector/web',
      'parts.yml Connection/front-door',
    ]);
  });

  test('R-04 leaves out YAML of subfolders, of package managers and of other programs', async () => {
    const { errors, warnings, valid } = await loadFiles({
      'goondan.yaml': head('Model', 'a') + script,
      'deeper/more.yaml': 'not: ours',
      'pnpm-lock.yaml': 'x: ['.repeat(10),
      '.hidden.yaml': 'nonsense: [',
      'compose.yml': 'services: { web: { image: x } }\n',
    });
    expect({ errors, valid }).toEqual({ errors: [], valid: true });
    expect(warnings).toMatchObject([{ code: 'E_BUNDLE_FILE', file: 'compose.yml', line: 1, column: 1 }]);
  });

  test('is found through links, and has one real path', async () => {
    using bundle = temporaryBundle({ 'real/goondan.yaml': head('Model', 'a') + script });
    symlinkSync('real', join(bundle.folder, 'link'));
    expect((await load(join(bundle.folder, 'link'))).folder).toBe(join(bundle.folder, 'real'));
  });

  test.each(['nowhere', 'empty', 'goondan.txt'])('is reported as missing: %s', async (name) => {
    using bundle = temporaryBundle({ 'goondan.txt': '' });
    mkdirSync(join(bundle.folder, 'empty'));
    const refused = await load(join(bundle.folder, name)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_BUNDLE_MISSING', message: expect.stringContaining(name) });
  });

  test('R-04 one error rejects the whole bundle, and all problems are listed in the order of the files', async () => {
    const { valid, errors } = await loadFiles(
      {
        ...completeBundle,
        'agents.yaml': `${head('Agent', 'Ho_t')}spec: { modelConfig: { modelRef: Model/x }, tols: [] }\n`,
        'broken.yaml': `${head('Model', 'z')}spec: [\n`,
      },
      completeEnvironment,
    );
    expect(valid).toBe(false);
    expect(errors.map(({ code, file, line, column }) => `${file}:${line}:${column} ${code}`)).toEqual([
      'goondan.yaml:27:15 E_REF_MISSING',
      'goondan.yaml:28:19 E_REF_MISSING',
      'goondan.yaml:28:33 E_REF_MISSING',
      'agents.yaml:3:19 E_RESOURCE_NAME',
      'agents.yaml:4:34 E_REF_MISSING',
      'agents.yaml:4:45 E_RESOURCE_KEY',
      'broken.yaml:5:1 E_YAML_SYNTAX',
      'parts.yml:43:28 E_REF_MISSING',
      'parts.yml:45:49 E_REF_MISSING',
    ]);
  });

  test('R-04 a declared but broken name is not reported as missing, too', async () => {
    const { errors } = await loadFiles({
      'goondan.yaml': `${head('Swarm', 'default')}spec: { entryAgent: Agent/a, agents: [Agent/a, Agent/b] }
---
${head('Agent', 'a')}spec: { modelConfig: { modelRef: Model/m }, oops: 1 }
---
${head('Agent', 'b')}spec: { modelConfig: { modelRef: Model/m }, x: } }
---
${head('Model', 'm')}${script}`,
    });
    expect(errors.map(({ code, line }) => `${code} ${line}`)).toEqual(['E_RESOURCE_KEY 9', 'E_YAML_SYNTAX 14']);
  });
});

describe('a resource with a wrong field', () => {
  const problems = async (...documents: readonly string[]) => {
    const { errors } = await loadFiles({ 'goondan.yaml': documents.join('---\n') });
    return errors.map(({ code, message, resource }) => `${resource} ${code} ${message}`);
  };
  const model = `${head('Model', 'm')}${script}`;

  test('R-04 still has its references checked', async () => {
    const found = await problems(
      model,
      `${head('Model', 'tape')}spec: { provider: cassette, model: 1, options: { file: t.json, mode: record, upstream: Model/gone } }\n`,
      `${head('Agent', 'a')}spec:
  modelConfig: { modelRef: Model/n, models: [Model/m, openai/gpt, Tool/x], params: { temperature: warm } }
  tools: [Tool/none, { ref: { kind: Tool, name: far, package: '@team/none' } }, 7]
  extensions: [{ ref: Extension/none, as: 1 }, nonsense]
`,
      `${head('Swarm', 'default')}spec: { entryAgent: Agent/b, agents: [Agent/a, Agent/b], workspace: 1 }\n`,
      `${head('Connection', 'door')}spec:
  connectorRef: Connector/none
  swarmRef: Swarm/other
  ingress: { rules: [{ route: { agentRef: Agent/c } }, { rout: {} }] }
`,
    );
    const references = found.filter((problem) => / E_(REF|PACKAGE)_/.test(problem));
    expect(references).toEqual([
      'Model/tape E_REF_MISSING There is no Model/gone.',
      'Agent/a E_REF_MISSING There is no Model/n.',
      'Agent/a E_REF_KIND This field needs a Model, not a Tool.',
      'Agent/a E_REF_MISSING There is no Tool/none, neither in this bundle nor in @goondan/base.',
      'Agent/a E_PACKAGE_MISSING The package "@team/none" is not installed.',
      'Agent/a E_REF_MISSING There is no Extension/none, neither in this bundle nor in @goondan/base.',
      'Agent/a E_REF_INVALID "nonsense" is not a reference.',
      'Swarm/default E_REF_MISSING There is no Agent/b.',
      'Swarm/default E_REF_MISSING There is no Agent/b.',
      'Connection/door E_REF_MISSING There is no Connector/none, neither in this bundle nor in @goondan/base.',
      'Connection/door E_REF_MISSING There is no Swarm/other.',
      'Connection/door E_REF_MISSING There is no Agent/c.',
    ]);
    // Problems from an earlier check are still listed. There is at least one for each resource.
    const fields = found.filter((problem) => problem.includes(' E_RESOURCE_')).map((problem) => problem.split(' ')[0]);
    expect(new Set(fields)).toEqual(new Set(['Model/tape', 'Agent/a', 'Swarm/default', 'Connection/door']));
  });

  test('values not written like a reference are not reported as leading nowhere', async () => {
    const found = await problems(
      model,
      `${head('Agent', 'a')}spec:
  modelConfig: { modelRef: Model/m, models: Model/none, params: { temperature: warm } }
  tools: [{ kind: Tool, name: bash, pakage: '@goondan/base' }, { kind: Tool }, { ref: [Tool/none] }, null]
  extensions: { first: Extension/none }
`,
      `${head('Model', 'tape')}spec: { provider: casette, model: m, options: { upstream: Model/none } }\n`,
    );
    expect(found).not.toBeEmpty();
    expect(found.filter((problem) => problem.includes(' E_REF_'))).toEqual([]);
  });

  test('counts as the swarm of a connection that names none', async () => {
    const connection = `${head('Connector', 'web')}spec: { entry: ./c.ts }
---
${head('Connection', 'door')}spec: { connectorRef: Connector/web, ingress: { rules: [{ route: { agentRef: Agent/a } }] } }
`;
    const agent = `${head('Agent', 'a')}spec: { modelConfig: { modelRef: Model/m } }\n`;
    const other = `${head('Agent', 'b')}spec: { modelConfig: { modelRef: Model/m } }\n`;
    const broken = `${head('Swarm', 'one')}spec: { entryAgent: Agent/a, agents: [Agent/a], workspace: 1 }\n`;
    const about = (found: readonly string[]) => found.filter((problem) => problem.startsWith('Connection/'));
    expect(about(await problems(model, agent, broken, connection))).toEqual([]);
    // With two swarms it is unknown which swarm the connection means, so it is also unknown whether that swarm has the
    // agent.
    const whole = `${head('Swarm', 'two')}spec: { entryAgent: Agent/b, agents: [Agent/b] }\n`;
    expect(about(await problems(model, agent, other, broken, whole, connection))).toEqual([
      'Connection/door E_REF_MISSING spec.swarmRef is missing, and there is more than one Swarm.',
    ]);
  });
});

describe('unknown parts', () => {
  test('R-04 a reference is not reported as missing when a document cannot be read', async () => {
    const { errors } = await loadFiles({
      'goondan.yaml': `${head('Agent', 'a')}spec: { modelConfig: { modelRef: Model/m } }\n`,
      'models.yaml': 'kind: {{ Model }}\nmetadata: [\n',
    });
    expect(errors).not.toBeEmpty();
    expect(errors.filter(({ file }) => file !== 'models.yaml')).toEqual([]);
  });

  test('a value from the environment that a schema restricts is not reported', async () => {
    const { errors } = await loadFiles({
      'goondan.yaml': `${head('Extension', 'e')}spec:
  entry: ./e.ts
  configSchema: { properties: { level: { enum: [info, debug] }, other: { type: number } } }
---
${head('Agent', 'a')}spec:
  modelConfig: { modelRef: Model/m }
  extensions: [{ ref: Extension/e, config: { level: { valueFrom: { env: LEVEL } }, other: text } }]
---
${head('Model', 'm')}${script}`,
      'e.ts': '',
    });
    expect(errors.map(({ message }) => message)).toEqual([
      'The config of Extension/e does not fit: other must be number.',
    ]);
  });
});

describe('a package', () => {
  const using = `${head('Agent', 'a')}spec:
  modelConfig: { modelRef: { kind: Model, name: m, package: "@team/parts" } }
  extensions: [{ ref: { kind: Extension, name: log, package: "@team/parts" } }]
`;
  const parts = {
    'node_modules/@team/parts/goondan.yaml': `${head('Model', 'm')}${script}---\n${head('Extension', 'log')}spec: { entry: ./log.ts }\n`,
    'node_modules/@team/parts/log.ts': 'export function register() {}\n',
    'node_modules/@team/parts/notes.yaml': 'other: things\n',
  };

  test('R-04 in node_modules is loaded by the same rules when a resource refers to it', async () => {
    using bundle = temporaryBundle({ 'goondan.yaml': using, ...parts });
    const { errors, resources, warnings } = await load(bundle.folder);
    expect(errors).toEqual([]);
    expect(warnings.map(({ file }) => file)).toEqual(['node_modules/@team/parts/notes.yaml']);
    const found = resources.filter(({ package: from }) => from === '@team/parts');
    expect(found.map(({ identity }) => identity)).toEqual(['Model/m', 'Extension/log']);
    expect(found[0]?.folder).toBe(join(bundle.folder, 'node_modules/@team/parts'));
  });

  test('is found above the bundle, and behind a link as in npm workspaces', async () => {
    const files = Object.entries(parts).map(([path, text]) => [path.replace('node_modules/@team', 'packages'), text]);
    using project = temporaryBundle({ 'bundle/goondan.yaml': using, ...Object.fromEntries(files) });
    mkdirSync(join(project.folder, 'node_modules/@team'), { recursive: true });
    symlinkSync('../../packages/parts', join(project.folder, 'node_modules/@team/parts'));
    const { errors, resources } = await load(join(project.folder, 'bundle'));
    expect(errors).toEqual([]);
    expect(resources.at(-1)?.folder).toBe(join(project.folder, 'packages/parts'));
  });

  test('R-04 problems in it name its file, and its files must stay inside it', async () => {
    using bundle = temporaryBundle({ 'goondan.yaml': using, ...parts, 'secret.ts': 'export function register() {}\n' });
    const folder = join(bundle.folder, 'node_modules/@team/parts');
    writeFileSync(join(folder, 'goondan.yaml'), `${head('Extension', 'log')}spec: { entry: ./link.ts }\n`);
    symlinkSync(join(bundle.folder, 'secret.ts'), join(folder, 'link.ts'));
    const { errors } = await load(bundle.folder);
    expect(errors).toMatchObject([
      { code: 'E_REF_MISSING', file: 'goondan.yaml', line: 5, message: 'The package "@team/parts" has no Model/m.' },
      { code: 'E_PATH_OUTSIDE', file: 'node_modules/@team/parts/goondan.yaml', line: 4, column: 16 },
    ]);
  });
});

describe('packages', () => {
  const extensionOf = (name: string, from: string) => `{ kind: Extension, name: ${name}, package: ${from} }`;
  const agent = (items: string, more = '') =>
    `${head('Agent', 'a')}spec: { modelConfig: { modelRef: Model/m${more} }, extensions: [${items}] }\n---\n${head('Model', 'm')}${script}`;
  const extension = (name: string) => `${head('Extension', name)}spec: { entry: ./e.ts }\n`;
  const module = 'export function register() {}\n';

  test('R-04 a circle of packages is rejected, and the circle is shown', async () => {
    const { errors } = await loadFiles({
      'goondan.yaml': agent(extensionOf('one', 'one')),
      'node_modules/one/goondan.yaml': `${extension('one')}---\n${agent(extensionOf('two', 'two'))}`,
      'node_modules/one/e.ts': module,
      'node_modules/two/goondan.yaml': `${extension('two')}---\n${agent(extensionOf('one', 'one'))}`,
      'node_modules/two/e.ts': module,
    });
    expect(errors.map(({ code, file, message }) => `${file} ${code} ${message}`)).toEqual([
      'node_modules/one/goondan.yaml E_REF_CYCLE Packages refer to each other in a circle: one → two → one.',
      'node_modules/two/goondan.yaml E_REF_CYCLE Packages refer to each other in a circle: two → one → two.',
    ]);
  });

  test('a package that a Package needs but that is not installed is a warning', async () => {
    const { warnings, errors } = await loadFiles({
      'goondan.yaml': `${head('Package', 'p')}spec: { version: 1.0.0, dependencies: [{ name: here, version: 1.0.0 }, { name: gone, version: 1.0.0 }] }\n`,
      'node_modules/here/package.json': '{}',
    });
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([
      { code: 'E_PACKAGE_MISSING', line: 4, message: 'The package "gone" is not installed.' },
    ]);
  });

  test('a declared tool with a schema that is too large gets a warning at its place', async () => {
    const many = (count: number, schema: object) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]));
    const parameters = {
      $defs: { b: { properties: many(900, { type: 'string' }) } },
      properties: many(300, { $ref: '#/$defs/b' }),
    };
    const tool = `spec:\n  entry: ./t.ts\n  exports:\n    - name: get\n      description: x\n      parameters: ${JSON.stringify(parameters)}\n`;
    const { warnings, errors } = await loadFiles({ 'goondan.yaml': `${head('Tool', 't')}${tool}`, 't.ts': module });
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([{ code: 'E_SCHEMA_SIZE', line: 9, message: expect.stringContaining('"t__get"') }]);
  });

  test('an unused resource of a package needs no values from the environment', async () => {
    const needs = (name: string) =>
      `${head('Extension', name)}spec: { entry: ./e.ts, config: { key: { valueFrom: { env: KEY_OF_${name.toUpperCase()} } } } }\n`;
    const { warnings } = await loadFiles({
      'goondan.yaml': agent(extensionOf('used', 'one')),
      'node_modules/one/goondan.yaml': `${needs('used')}---\n${needs('unused')}`,
      'node_modules/one/e.ts': module,
    });
    expect(warnings.map(({ message }) => message)).toEqual(['The environment variable KEY_OF_USED is not set.']);
  });

  test('R-04 two models of the same name in one agent are rejected', async () => {
    const { errors } = await loadFiles({
      'goondan.yaml': agent('', ', models: [{ kind: Model, name: m, package: one }]'),
      'node_modules/one/goondan.yaml': `${head('Model', 'm')}${script}`,
    });
    expect(errors).toMatchObject([{ code: 'E_REF_TWICE', line: 4, column: 52 }]);
  });

  test('an import that may be meant to fail is a warning', async () => {
    const { warnings, valid } = await loadFiles({
      'goondan.yaml': extension('e'),
      'e.ts': `await import('sharp').catch(() => 0);\n${module}`,
    });
    expect(valid).toBe(true);
    expect(warnings).toMatchObject([
      { code: 'E_IMPORT_MISSING', line: 4, message: 'e.ts imports "sharp", which is not installed.' },
    ]);
  });
});

describe("a bundle's .env", () => {
  const model = `${head('Model', 'a')}spec: { provider: anthropic, model: m, apiKey: { valueFrom: { env: MY_KEY } } }\n`;

  test('R-04 fills in declared values, and variables it must not set are reported', async () => {
    const { warnings, errors, environmentFile } = await loadFiles({
      'goondan.yaml': model,
      '.env': 'MY_KEY=abc\nANTHROPIC_BASE_URL=http://evil\n\nPATH=/evil\nnot-one=x\n',
    });
    expect(errors).toEqual([]);
    expect(environmentFile).toEqual({ MY_KEY: 'abc' });
    expect(warnings).toMatchObject([
      { code: 'E_ENV_FILE', file: '.env', line: 2, message: expect.stringContaining('ANTHROPIC_BASE_URL') },
      { code: 'E_ENV_FILE', file: '.env', line: 4, message: expect.stringContaining('PATH') },
      { code: 'E_ENV_FILE', file: '.env', line: 5 },
    ]);
  });

  test('R-04 a value that is set nowhere is a warning at the place that needs it', async () => {
    const { warnings, valid } = await loadFiles({ 'goondan.yaml': model }, { OTHER: 'x', MY_KEY: '' });
    expect(valid).toBe(true);
    expect(warnings).toMatchObject([
      { code: 'E_ENV_MISSING', file: 'goondan.yaml', line: 4, column: 68, resource: 'Model/a' },
    ]);
  });

  test('a link out of the bundle is not read', async () => {
    using elsewhere = temporaryBundle({ secrets: 'MY_KEY=stolen\n' });
    using bundle = temporaryBundle({ 'goondan.yaml': model });
    symlinkSync(join(elsewhere.folder, 'secrets'), join(bundle.folder, '.env'));
    const { environmentFile, warnings } = await load(bundle.folder);
    expect(environmentFile).toEqual({});
    expect(warnings.map(({ code }) => code)).toEqual(['E_ENV_MISSING', 'E_ENV_FILE']);
  });
});

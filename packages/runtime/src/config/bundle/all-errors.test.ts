// One problem hides no other: tests bundles that have several.
import { describe, expect, test } from 'bun:test';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import { loadBundle } from './load-bundle.ts';

const load = (folder: string) => loadBundle(folder, { environment: {} });
const head = (kind: string, name: string) => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const script = 'spec: { provider: scripted, model: m, options: { script: [{ say: hi }] } }\n';

describe('all errors of all resources are listed in one run', () => {
  const listed = async (text: string, files: Readonly<Record<string, string>> = {}) => {
    using bundle = temporaryBundle({ 'goondan.yaml': text, 'e.ts': 'export function register() {}\n', ...files });
    const { errors } = await load(bundle.folder);
    return errors.map(({ code, line, message }) => `${line} ${code} ${message}`);
  };
  const agent = (spec: string, kind = 'Agent') => `${head(kind, 'a')}spec:\n${spec.replaceAll(/^/gm, '  ')}\n`;

  test.each([
    ['a forbidden key', '__proto__: { x: 1 }', '8 E_YAML_KEY The key "__proto__" is never allowed.'],
    ['a key twice', 'description: again', '8 E_YAML_KEY The key "description" is in the same object twice.'],
    ['an unknown key', 'toolz: []', '8 E_RESOURCE_KEY spec has no field "toolz".'],
    ['a wrong value', 'policy: { trace: 7 }', '8 E_RESOURCE_INVALID spec.policy.trace must be one of on, off, not 7.'],
    [
      'a value that YAML alone has',
      'policy: { maxStepsPerTurn: .inf }',
      '8 E_YAML_SYNTAX Infinity is not a value that a resource can have.',
    ],
  ])('R-04 beside %s', async (_name, line, expected) => {
    const spec = `description: Helps.
modelConfig: { modelRef: Model/none, params: { temperature: warm } }
prompt: { systemRef: ./none.md }
${line}
workdir: ./nowhere`;
    expect(await listed(agent(spec))).toEqual([
      '6 E_REF_MISSING There is no Model/none.',
      '6 E_RESOURCE_INVALID spec.modelConfig.params.temperature must be a number, not "warm".',
      '7 E_PROMPT_FILE There is no file "./none.md".',
      expected,
      '9 E_RESOURCE_INVALID spec.workdir: there is no folder "./nowhere".',
    ]);
  });

  test('beside a missing field', async () => {
    const tool = `${head('Tool', 't')}spec:\n  entry: ./none.ts\n  exports: [{ name: get }]\n  __proto__: 1\n`;
    expect(await listed(`${tool}---\n${agent('prompt: { systemRef: ./none.md }')}`)).toEqual([
      '5 E_TOOL_LOAD There is no file "./none.ts".',
      '6 E_RESOURCE_INVALID spec.exports[0].description is missing; it must be a string.',
      '7 E_YAML_KEY The key "__proto__" is never allowed.',
      '12 E_RESOURCE_INVALID spec.model is missing.',
      '13 E_PROMPT_FILE There is no file "./none.md".',
    ]);
  });

  test('beside a mistyped kind, and the resource is declared', async () => {
    const swarm = `${head('Swarm', 'default')}spec: { entryAgent: Agent/a, agents: [Agent/a, Agent/b] }\n`;
    const broken = agent('modelConfig: { modelRef: Model/none }\ntoolz: []', 'Agnet');
    expect(await listed(`${swarm}---\n${broken}`)).toEqual([
      '4 E_REF_MISSING There is no Agent/b.',
      '7 E_RESOURCE_KIND There is no kind "Agnet".',
      '10 E_REF_MISSING There is no Model/none.',
      '11 E_RESOURCE_KEY spec has no field "toolz".',
    ]);
  });

  test('beside an unknown kind or name; only the resource that it may be is not reported as missing', async () => {
    const swarm = `${head('Swarm', 'default')}spec: { entryAgent: Agent/a, agents: [Agent/a, Agent/b], extensions: [Extension/x] }\n`;
    const unknown = 'apiVersion: goondan.ai/v2\nkind: Workflow\nmetadata: { name: a, lable: x }\n';
    const nameless = 'apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: {}\nspec: { entry: ./none.ts }\n';
    expect(await listed(`${swarm}---\n${unknown}---\n${nameless}`)).toEqual([
      '4 E_REF_MISSING There is no Agent/b.',
      '6 E_RESOURCE_INVALID apiVersion must be goondan.ai/v1, not "goondan.ai/v2".',
      '7 E_RESOURCE_KIND There is no kind "Workflow".',
      '8 E_RESOURCE_KEY metadata has no field "lable".',
      '12 E_RESOURCE_INVALID metadata.name is missing; it must be a string.',
      '13 E_EXT_LOAD There is no file "./none.ts".',
    ]);
  });

  test.each(['__proto__: 1', 'extensions: { first: Extension/x }', 'modelConfig: { modelRef: Model/n }'])(
    'a resource without its wrong part (%s) leaves the bundle incomplete',
    async (line) => {
      const text = agent(`modelConfig: { modelRef: Model/m }\n${line}`);
      using bundle = temporaryBundle({ 'goondan.yaml': `${head('Model', 'm')}${script}\n---\n${text}` });
      const { scope } = await load(bundle.folder);
      expect(scope.resources.map(({ identity }) => identity)).toEqual(['Model/m', 'Agent/a', 'Swarm/a']);
      expect(scope.isIncomplete).toBe(true);
    },
  );

  test('a document for another program gets no errors about fields of resources', async () => {
    const cluster = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: {}\n';
    const compose = 'x: &x { image: a }\nservices: { b: { <<: *x } }\n';
    expect(await listed(cluster, { 'compose.yaml': compose })).toEqual([
      '2 E_RESOURCE_KIND There is no kind "ConfigMap".',
      '2 E_YAML_KEY Merge keys (`<<`) are not supported.',
    ]);
  });

  test('the fields of a merge key are not reported as missing', async () => {
    const tool = `${head('Extension', 'e')}spec: &s { entry: ./e.ts }\n`;
    const merged = `${head('Extension', 'f')}x: &s { entry: ./e.ts }\nspec: { <<: *s, oops: 1 }\n`;
    expect(await listed(`${tool}---\n${merged}`)).toEqual([
      '9 E_RESOURCE_KEY A resource has no field "x".',
      '10 E_YAML_KEY Merge keys (`<<`) are not supported.',
      '10 E_RESOURCE_KEY spec has no field "oops".',
    ]);
  });
});

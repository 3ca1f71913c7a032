import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { loadBundle } from '../load-bundle.ts';
import { resolveSwarm } from '../resolve/resolve-swarm.ts';
import { readSchemaFile } from './read-schema-file.ts';

/** Reads a bundle whose agent has this `output`, which begins in line 14. */
async function load(output: string, files: Record<string, string> = {}) {
  using bundle = temporaryBundle({
    ...files,
    'goondan.yaml': `apiVersion: goondan.ai/v1
kind: Model
metadata: { name: demo }
spec: { provider: scripted, model: demo, options: { script: [{ say: hello }] } }
---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: clerk }
spec:
  modelConfig: { modelRef: Model/demo }

  # The form of the answers.
  output:
${output.replaceAll(/^/gm, '    ')}
---
apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: shop }
spec: { entryAgent: Agent/clerk, agents: [Agent/clerk] }
`,
  });
  const loaded = await loadBundle(bundle.folder, { environment: {} });
  const problems = loaded.errors.map(({ file, line, column, code }) => [`${file}:${line}:${column}`, code]);
  const plan = loaded.valid ? resolveSwarm(loaded, { environment: {} }).plan : undefined;
  const sentences = loaded.errors.map(({ message, suggestion }) => `${message} ${suggestion}`).join('\n');
  // The path of the folder is another one in each run.
  return { problems, sentences: sentences.replace(bundle.folder, 'BUNDLE'), output: plan?.agents[0]?.output };
}

const object = { type: 'object', properties: { city: { type: 'string' } } };

test('Y-01 a schema in the bundle reaches the plan, from the resource, a JSON file and a YAML file', async () => {
  const inline = await load('schema: { type: object, properties: { city: { type: string } } }\nretries: 5');
  expect(inline).toMatchObject({ problems: [], output: { schema: object, retries: 5 } });
  const json = await load('schemaRef: schemas/city.json', {
    'schemas/city.json': JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...object }, null, 2),
  });
  expect(json).toMatchObject({ problems: [], output: { schema: object } });
  const yaml = await load('schemaRef: ./city.yml', {
    'city.yml': 'type: object\nproperties: { city: { type: string } }\n',
  });
  expect(yaml).toMatchObject({ problems: [], output: { schema: object } });
});

test.each<[title: string, output: string, place: string, code: string, files?: Record<string, string>]>([
  ['neither', 'retries: 1', 'goondan.yaml:14:5', 'E_RESOURCE_INVALID'],
  ['both', 'schema: {}\nschemaRef: ./a.json', 'goondan.yaml:15:5', 'E_RESOURCE_INVALID', { 'a.json': '{}' }],
  [
    'a keyword that is not checked',
    'schema:\n  type: object\n  properties:\n    city:\n      minLenght: 1',
    'goondan.yaml:18:11',
    'E_OUTPUT_INVALID',
  ],
  ['a keyword that resembles no other', 'schema: { xyz: 1 }', 'goondan.yaml:14:15', 'E_OUTPUT_INVALID'],
  ['too many retries', 'schema: {}\nretries: 11', 'goondan.yaml:15:14', 'E_RESOURCE_INVALID'],
  ['no file', 'schemaRef: ./gone/a.json', 'goondan.yaml:14:16', 'E_OUTPUT_INVALID'],
  ['a file outside', 'schemaRef: ../../x.json', 'goondan.yaml:14:16', 'E_PATH_OUTSIDE'],
  [
    'a mistake in a JSON file',
    'schemaRef: ./a.json',
    'a.json:4:15',
    'E_OUTPUT_INVALID',
    { 'a.json': '{\n  "type": "object",\n  "properties": {\n    "city": { "typ": "string" }\n  }\n}\n' },
  ],
  [
    'a keyword of a file',
    'schemaRef: ./a.json',
    'a.json:1:3',
    'E_OUTPUT_INVALID',
    { 'a.json': '{ "requird": ["city"] }' },
  ],
  ['a file that is not JSON', 'schemaRef: ./a.json', 'a.json:1:11', 'E_YAML_SYNTAX', { 'a.json': '{ "type": ' }],
  ['an empty file', 'schemaRef: ./a.json', 'a.json:1:1', 'E_OUTPUT_INVALID', { 'a.json': '' }],
  ['two documents', 'schemaRef: ./a.yaml', 'a.yaml:1:1', 'E_OUTPUT_INVALID', { 'a.yaml': '{}\n---\n{}\n' }],
])(
  'Y-01 validate reports a mistake at its place in the user’s file, and suggests what is meant: %s',
  async (_title, output, place, code, files) => {
    const { problems, sentences } = await load(output, files);
    expect(problems).toEqual([[place, code]]);
    expect(sentences).toMatchSnapshot();
  },
);

test('Y-01 the file of --schema is read the same way', () => {
  using folder = temporaryBundle({ 'a.yaml': 'type: object\n', 'b.yaml': 'type: object\nnope: 1\n' });
  expect(readSchemaFile(join(folder.folder, 'a.yaml'))).toEqual({ type: 'object' });
  const path = join(folder.folder, 'b.yaml');
  expect(() => readSchemaFile(path)).toThrow(`${path}:2:1: The schema for answers cannot be used`);
  expect(() => readSchemaFile(join(folder.folder, 'c.yaml'))).toThrow('There is no such file.');
  expect(() => readSchemaFile(folder.folder)).toThrow('The file is not a regular file.');
  writeFileSync(path, new Uint8Array([0xff, 0xfe]));
  expect(() => readSchemaFile(path)).toThrow('The file is not UTF-8 text.');
});

import { expect, test } from 'bun:test';
import type { JsonSchema } from '@goondan/types';
import { bundleSchemaFile, renderBundleSchema } from '../../../../../../scripts/render-bundle-schema.ts';
import { compileSchema } from '../../../json/json-schema.ts';
import { completeBundle } from '../../../testing/temporary-bundle.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { bundleJsonSchema } from './bundle-json-schema.ts';

// The cast is safe: the schema is JSON, although its type does not say so.
const schema = JSON.parse(JSON.stringify(bundleJsonSchema())) as JsonSchema;

test('the published schema equals the one that checks bundles; otherwise run `npm run write`', async () => {
  expect(await Bun.file(bundleSchemaFile).json()).toEqual(JSON.parse(renderBundleSchema()));
});

test('editors accept a valid bundle, and see the mistakes in a wrong one', async () => {
  const check = await compileSchema(schema, 'bundles');
  const documents = ['goondan.yaml', 'agents.yaml', 'parts.yml'].flatMap((file) => {
    return readYaml(completeBundle[file] ?? '', file).documents.map(({ value }) => value);
  });
  expect(documents).toHaveLength(11);
  for (const document of documents) expect(check(document)).toEqual([]);
  const [extension] = documents.filter((document) => Object(document).kind === 'Extension');
  expect(check({ ...Object(extension), spec: { entri: './x.ts' } })).not.toEqual([]);
  expect(check({ ...Object(extension), kind: 'Extention' })).not.toEqual([]);
  expect(check({ ...Object(extension), metadata: { name: 'Not A Name' } })).not.toEqual([]);
});

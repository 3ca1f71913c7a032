// The YAML examples of the seed documents: each file of `yaml/` is one of them, letter for letter. Some show a part of
// a resource; the missing parts are filled in before the validation, and nothing else is changed.
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBundle } from '@goondan/runtime/bundle';
import { parseAllDocuments, stringify } from 'yaml';
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';
import { repository } from '../read-repository.ts';

const folder = join(import.meta.dir, 'yaml');
const seedsFolder = join(repository, '../shared/spec/seeds');
const examples = readdirSync(folder)
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));

interface Written {
  kind: string;
  metadata?: { name: string };
  spec: { entry?: string; extensions?: (string | { ref?: string; name?: string })[]; modelConfig?: object };
}

describe('the YAML examples of the seeds', () => {
  test.each(examples)('B-10 $file validates', async ({ text }) => {
    const documents = parseAllDocuments(readable(text)).map((document) => complete(document.toJS()));
    const declared = documents.flatMap(({ metadata, kind }) => (kind === 'Extension' ? [metadata?.name] : []));
    const others = documents
      .flatMap(namesOf)
      .filter((name) => !declared.includes(name))
      .map(extension);
    const all = [model, ...documents, ...others];
    const modules = all.flatMap(({ spec }) =>
      spec.entry === undefined ? [] : [[spec.entry, 'export function register() {}\n']],
    );
    using bundle = temporaryBundle({
      'goondan.yaml': all.map((document) => stringify(document)).join('---\n'),
      ...Object.fromEntries(modules),
    });
    const { errors, warnings, resources } = await loadBundle(bundle.folder, { environment: {} });
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
    expect(resources.filter(({ isImplied }) => isImplied !== true)).toHaveLength(all.length);
  });

  test('are whole resources, or parts of an Agent', () => {
    const whole = examples.filter(({ text }) => text.includes('apiVersion: goondan.ai/v1'));
    expect(whole.length).toBeGreaterThan(1);
    for (const { text } of examples) expect(text).toMatch(/^kind: (?:Extension|Agent)$/m);
  });

  test.skipIf(!existsSync(seedsFolder))('B-10 are all examples in the seeds, letter for letter', () => {
    const shown = readdirSync(seedsFolder)
      .toSorted()
      .flatMap((name) => [...readFileSync(join(seedsFolder, name), 'utf8').matchAll(/^```yaml\n([\s\S]*?\n)```$/gm)])
      .map(([, text = '']) => text);
    expect(examples.map(({ text }) => text).toSorted()).toEqual(shown.toSorted());
  });
});

const apiVersion = 'goondan.ai/v1';
const model = {
  apiVersion,
  kind: 'Model',
  metadata: { name: 'm' },
  spec: { provider: 'scripted', model: 'm', options: { script: [{ say: 'hi' }] }, entry: undefined },
};

/** Fills in placeholders. */
function readable(text: string): string {
  return text.replace('<확장 이름>', 'example').replace('<key>: <value>', 'key: value');
}

function complete(written: Written): Written {
  if (written.kind !== 'Agent') return written;
  const { spec, ...more } = written;
  return {
    apiVersion,
    metadata: { name: 'example' },
    ...more,
    spec: { modelConfig: { modelRef: 'Model/m' }, ...spec },
  } as Written;
}

function namesOf({ spec }: Written): string[] {
  return (spec.extensions ?? []).map((item) =>
    (typeof item === 'string' ? item : (item.ref ?? item.name ?? '')).replace('Extension/', ''),
  );
}

function extension(name: string): Written {
  return { apiVersion, kind: 'Extension', metadata: { name }, spec: { entry: `./${name}.ts` } } as Written;
}

import { describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBundle } from '@goondan/runtime/bundle';

const folder = join(import.meta.dir, '..');
const pages = join(folder, '..', '..', 'docs', 'base');

const places = { Extension: 'extensions', Tool: 'tools', Connector: 'connectors' } as const;

const { errors, warnings, resources } = await loadBundle(folder, { environment: {} });

describe('the manifest of @goondan/base', () => {
  const parts = resources.flatMap(({ kind, name }) =>
    kind === 'Extension' || kind === 'Tool' || kind === 'Connector' ? [{ kind, name, place: places[kind] }] : [],
  );

  test('is valid', () => {
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
  });

  test('names every existing folder, and no other', () => {
    const declared = parts.map(({ place, name }) => `${place}/${name}`);
    // Alternative names of parts. Such a part has a folder only under its first name.
    const aliases = ['extensions/compaction'];
    expect(declared.filter((each) => !aliases.includes(each)).toSorted()).toEqual(listParts());
  });

  // `test/guide.process.test.ts` types the commands of each page, and `test/additions.test.ts` wants its example.
  test('has a page for every part', () => {
    const names = new Set(parts.map(({ name }) => (name === 'compaction' ? 'message-compaction' : name)));
    expect([...names].filter((name) => !existsSync(join(pages, `${name}.md`)))).toEqual([]);
  });
});

test.each(['message-window', 'message-compaction', 'compaction'])('%s needs no config', async (name) => {
  const bundle = mkdtempSync(join(tmpdir(), 'base-manifest-'));
  try {
    const yaml = readFileSync(join(folder, 'examples', 'message-window', 'goondan.yaml'), 'utf8');
    const bare = yaml.replace('name: message-window', `name: ${name}`).replace(/^ +config: .*\n/m, '');
    writeFileSync(join(bundle, 'goondan.yaml'), bare);
    expect(bare).not.toContain('config:');
    expect((await loadBundle(bundle, { environment: {} })).errors).toEqual([]);
  } finally {
    rmSync(bundle, { recursive: true });
  }
});

function listParts(): string[] {
  return Object.values(places)
    .filter((place) => existsSync(join(import.meta.dir, place)))
    .flatMap((place) => readdirSync(join(import.meta.dir, place)).map((name) => `${place}/${name}`))
    .toSorted();
}

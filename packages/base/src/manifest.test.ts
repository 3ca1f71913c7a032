import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
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

  test('has a page for every part', () => {
    const names = new Set(parts.map(({ name }) => (name === 'compaction' ? 'message-compaction' : name)));
    expect([...names].filter((name) => !existsSync(join(pages, `${name}.md`)))).toEqual([]);
  });
});

function listParts(): string[] {
  return Object.values(places)
    .filter((place) => existsSync(join(import.meta.dir, place)))
    .flatMap((place) => readdirSync(join(import.meta.dir, place)).map((name) => `${place}/${name}`))
    .toSorted();
}

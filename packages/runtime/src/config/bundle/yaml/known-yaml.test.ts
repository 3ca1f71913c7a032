import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { sha256 } from '../../../json/sha256.ts';
import type { Path, SourceDocument } from '../place.ts';
import { findKnownDocuments, loadKnownYaml } from './known-yaml.ts';
import { readYaml } from './read-yaml.ts';
import { temporaryFolder } from '../../../../../../test/temporary-folder.ts';

const folder = temporaryFolder();

const text = 'a:\n  b: [x, y]\n---\n# second\nc:\n  d: 1\n';
// Other values than those of the text show that the text was not parsed.
const known = { [sha256(text)]: [{ first: true }, { second: true }] };

test('the values of a known text come from the list', () => {
  const documents = findKnownDocuments(known, text, 'a.yaml');
  expect(documents).toMatchObject([
    { value: { first: true }, isBroken: false, isUnreadable: false, file: 'a.yaml' },
    { value: { second: true }, isBroken: false, isUnreadable: false, file: 'a.yaml' },
  ]);
});

test('places are those of the text', () => {
  const documents = findKnownDocuments(known, text, 'a.yaml') ?? [];
  expect(placesIn(documents)).toEqual(placesIn(readYaml(text, 'a.yaml').documents));
  expect(documents[1]?.placeOf(['c', 'd'])).toEqual({ file: 'a.yaml', line: 6, column: 6 });
});

function placesIn(documents: readonly SourceDocument[]) {
  const paths: Path[] = [[], ['a'], ['a', 'b'], ['a', 'b', 1], ['c', 'd'], ['missing']];
  return documents.map((document) => paths.map((path) => [document.placeOf(path), document.placeOf(path, 'key')]));
}

test('a text that differs in one character is not known', () => {
  expect(findKnownDocuments(known, `${text} `, 'a.yaml')).toBeUndefined();
  expect(findKnownDocuments({}, text, 'a.yaml')).toBeUndefined();
});

test('the list comes from the build', () => {
  const values = Object.values(loadKnownYaml()).flat();
  expect(values).toContainEqual(expect.objectContaining({ kind: 'Tool', metadata: { name: 'bash' } }));
});

test('a damaged list is ignored, so the files are parsed', async () => {
  const list = join(folder, 'known-yaml.json');
  expect(loadKnownYaml(list)).toEqual({});
  for (const damaged of ['', 'null', '[]', '"x"', '3', `{"${sha256(text)}":{}}`, `{"${sha256(text)}":null}`]) {
    await Bun.write(list, damaged);
    expect(findKnownDocuments(loadKnownYaml(list), text, 'a.yaml')).toBeUndefined();
  }
  await Bun.write(list, JSON.stringify(known));
  expect(findKnownDocuments(loadKnownYaml(list), text, 'a.yaml')).toHaveLength(2);
});

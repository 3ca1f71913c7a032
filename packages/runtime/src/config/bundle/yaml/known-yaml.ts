/**
 * The YAML files that come with Goondan, parsed by `npm run build`: parsing the base library takes as long as all the
 * rest of reading a small bundle.
 *
 * 1. A file is known by the hash of its text, wherever it is; any other file is parsed.
 * 2. Only the values are kept. The text is parsed when the first place in it is asked for, which only a problem does.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '@goondan/types';
import { sha256 } from '../../../json/sha256.ts';
import type { SourceDocument } from '../place.ts';
import { readYaml } from './read-yaml.ts';

/** The hash of a text, and the values of its documents. */
export type KnownYaml = Readonly<Record<string, readonly JsonValue[]>>;

const builtList = new URL('../../../../dist/known-yaml.json', import.meta.url);

/** Returns the known files; none before the first build. */
export function loadKnownYaml(): KnownYaml {
  try {
    return JSON.parse(readFileSync(fileURLToPath(builtList), 'utf8'));
  } catch {
    return {};
  }
}

/** Returns the documents of a text, if it is known. */
export function findKnownDocuments(known: KnownYaml, text: string, file: string): SourceDocument[] | undefined {
  const values = known[sha256(text)];
  let parsed: readonly SourceDocument[] | undefined;
  return values?.map((value, index) => ({
    value,
    isBroken: false,
    file,
    placeOf(path, part) {
      parsed ??= readYaml(text, file).documents;
      return parsed[index]?.placeOf(path, part) ?? { file, line: 1, column: 1 };
    },
  }));
}

/**
 * The YAML files that come with Goondan, parsed in advance by `npm run build`. To parse the base library takes as long
 * as all other work of reading a small bundle.
 *
 * 1. A file is recognised by the hash of its text, in any folder. All other files are parsed when they are read.
 * 2. Only the values are stored. The text is parsed when the place of a value is needed, which happens only to report a
 *    problem.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { sha256 } from '../../../json/sha256.ts';
import type { SourceDocument } from '../place.ts';
import { readYaml } from './read-yaml.ts';

/** The values of the documents of each known file, by the hash of the file's text. */
export type KnownYaml = Readonly<Record<string, readonly JsonValue[]>>;

const builtList = new URL('../../../../dist/known-yaml.json', import.meta.url);

/** Returns the known files; an empty object before the first build, or if the list is damaged. */
export function loadKnownYaml(list = fileURLToPath(builtList)): KnownYaml {
  try {
    const known: unknown = JSON.parse(readFileSync(list, 'utf8'));
    return isKnownYaml(known) ? known : {};
  } catch {
    return {};
  }
}

function isKnownYaml(known: unknown): known is KnownYaml {
  return isPlainObject(known) && Object.values(known).every(Array.isArray);
}

/** Returns the documents of a known file; `undefined` if the text is not known. */
export function findKnownDocuments(known: KnownYaml, text: string, file: string): SourceDocument[] | undefined {
  const values = known[sha256(text)];
  let parsed: readonly SourceDocument[] | undefined;
  return values?.map((value, index) => ({
    value,
    isBroken: false,
    isUnreadable: false,
    file,
    placeOf(path, part) {
      parsed ??= readYaml(text, file).documents;
      return parsed[index]?.placeOf(path, part) ?? { file, line: 1, column: 1 };
    },
  }));
}

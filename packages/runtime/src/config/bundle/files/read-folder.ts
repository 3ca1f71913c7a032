/**
 * Reads the YAML files of a folder: `goondan.yaml` and the files beside it, but not those of subfolders. A file without
 * any resource of this runtime is left out, with a warning.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject } from '../../../json/copy-json.ts';
import { unlessThrows } from '../../../ports/unless-throws.ts';
import { errorAt, type Finding, warningAt } from '../bundle-problem.ts';
import { isResourceKind } from '../kinds/parse-resource.ts';
import type { SourceDocument } from '../place.ts';
import { yamlLimits } from '../yaml/limits.ts';
import { findKnownDocuments, type KnownYaml, loadKnownYaml } from '../yaml/known-yaml.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { readTextFileIn, refusalText, type TextFile } from './text-file.ts';

export const BUNDLE_FILE = 'goondan.yaml';

const MOST_FILES = 100;

/** Reads the files. `shownAs`: the name of the folder in problems; '' for the bundle's own folder. */
export async function readFolder(folder: string, shownAs: string) {
  const names = listYamlFiles(folder);
  if (names === undefined) {
    const file = join(shownAs, BUNDLE_FILE);
    return {
      documents: [unreadable(file)],
      findings: [errorAt(startOf(file), 'E_BUNDLE_FILE', 'Its folder cannot be read.')],
    };
  }
  const findings: Finding[] = [];
  const documents: SourceDocument[] = [];
  if (names.length > MOST_FILES) {
    const message = `The folder has more than ${MOST_FILES} YAML files; the rest is not read.`;
    findings.push(errorAt(startOf(join(shownAs, names[MOST_FILES] ?? '')), 'E_BUNDLE_LIMIT', message));
  }
  // Files that come with Goondan are parsed in advance. Only packages have such files, not the bundle itself.
  const known = shownAs === '' ? {} : loadKnownYaml();
  for (const name of names.slice(0, MOST_FILES)) {
    const read = await readFile(folder, name, join(shownAs, name), known);
    findings.push(...read.findings);
    documents.push(...read.documents);
  }
  return { documents, findings };
}

/** Lists `goondan.yaml` first, then the others by name. */
function listYamlFiles(folder: string): string[] | undefined {
  const names = unlessThrows(() => readdirSync(folder))?.filter((name) => /\.ya?ml$/.test(name) && !isLeftAlone(name));
  if (names === undefined) return undefined;
  const others = names.filter((name) => name !== BUNDLE_FILE).toSorted();
  return names.includes(BUNDLE_FILE) ? [BUNDLE_FILE, ...others] : others;
}

/** Returns true for a hidden file or the lock file of a package manager. */
function isLeftAlone(name: string): boolean {
  return name.startsWith('.') || /-lock\.ya?ml$/.test(name);
}

async function readFile(folder: string, name: string, file: string, known: KnownYaml) {
  const read = await readTextFileIn(folder, name, yamlLimits.bytes);
  if (read.type !== 'text') return { documents: [unreadable(file)], findings: [refuse(file, read)] };
  const knownDocuments = findKnownDocuments(known, read.text, file);
  if (knownDocuments !== undefined) return { documents: knownDocuments, findings: [] };
  const { documents, findings } = readYaml(read.text, file);
  if (name === BUNDLE_FILE || documents.length === 0) return { documents, findings };
  if (findings.length > 0 || documents.some(isOurs)) return { documents: documents.map(withoutForeign), findings };
  const message = `${file} has no Goondan resource and was ignored.`;
  return { documents: [], findings: [warningAt(startOf(file), 'E_BUNDLE_FILE', message)] };
}

const refusalCodes = {
  size: 'E_YAML_LIMIT',
  outside: 'E_PATH_OUTSIDE',
  kind: 'E_BUNDLE_FILE',
  access: 'E_BUNDLE_FILE',
} as const;

function refuse(file: string, read: Exclude<TextFile, { type: 'text' }>): Finding {
  switch (read.type) {
    case 'missing':
      return errorAt(startOf(file), 'E_BUNDLE_FILE', `${file} is a link to a missing file.`);
    case 'bytes':
      return errorAt({ file, ...read }, 'E_YAML_SYNTAX', 'The file is not UTF-8 from here on.');
    case 'refused':
      const text = refusalText(read.reason, yamlLimits.bytes);
      return errorAt(startOf(file), refusalCodes[read.reason], `${file} ${text}.`);
  }
}

/** Returns true if a document is a resource of this runtime, or clearly meant to be one. */
function isOurs({ value }: SourceDocument): boolean {
  if (!isPlainObject(value)) return false;
  const { apiVersion, kind } = value;
  return isResourceKind(kind) || (typeof apiVersion === 'string' && apiVersion.startsWith('goondan'));
}

/** Keeps the checks of resources away from a broken document that is probably for another program. */
function withoutForeign(document: SourceDocument): SourceDocument {
  return document.isBroken && !isOurs(document) ? { ...document, isUnreadable: true } : document;
}

function unreadable(file: string): SourceDocument {
  return { value: null, isBroken: true, isUnreadable: true, file, placeOf: () => startOf(file) };
}

function startOf(file: string) {
  return { file, line: 1, column: 1 };
}

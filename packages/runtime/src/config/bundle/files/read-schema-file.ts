/** Reads a file with the JSON Schema of an answer. The file is JSON or YAML. */
import { errorCatalogue, GoondanError, type JsonSchema } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { demandKeywords, findDemandProblem } from '../../../json/find-demand-problem.ts';
import type { SchemaProblem } from '../../../json/find-schema-problem.ts';
import { closestName, suggestName } from '../../closest-name.ts';
import { errorAt, type Finding } from '../bundle-problem.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { readTextFile, refusalText, type TextFile } from './text-file.ts';

const LARGEST_FILE = 1024 * 1024;

/**
 * Reads a schema for `output`. `text`: the content, if it is not read from a file. **Errors** — `E_OUTPUT_INVALID` when the file cannot be read or has no schema that an answer
 * can fit, with the place in the file.
 */
export function readSchemaFile(path: string, text?: string): JsonSchema {
  const read = text === undefined ? readSchemaIn(path, path) : readSchemaText({ type: 'text', text }, path);
  if (!Array.isArray(read)) return read;
  const [first] = read;
  const { file = path, line = 1, column = 1, message = '', suggestion } = first?.problem ?? {};
  const told = `${file}:${line}:${column}: ${message}`;
  throw new GoondanError('E_OUTPUT_INVALID', told, suggestion === undefined ? {} : { suggestion });
}

/** Returns the schema in the file at `path`, or its problems. `file`: the name of the file in messages. */
export function readSchemaIn(path: string, file: string, resource?: string): JsonSchema | Finding[] {
  return readSchemaText(readTextFile(path, LARGEST_FILE), file, resource);
}

function readSchemaText(read: TextFile, file: string, resource?: string): JsonSchema | Finding[] {
  const refuse = (message: string, place = { file, line: 1, column: 1 }, suggestion = WRITE_SCHEMA) => [
    errorAt(place, 'E_OUTPUT_INVALID', message, suggestion, resource),
  ];
  if (read.type === 'missing') return refuse('There is no such file.');
  if (read.type === 'refused') return refuse(`The file ${refusalText(read.reason, LARGEST_FILE)}.`);
  if (read.type === 'bytes') return refuse('The file is not UTF-8 text.', { file, ...read });
  // JSON is YAML, too, and so the problems of both have a place in the file.
  const { documents, findings } = readYaml(read.text, file);
  if (findings.length > 0) return findings;
  const [document, ...others] = documents;
  if (document === undefined) return refuse('The file is empty; it must have one JSON Schema.');
  if (others.length > 0) return refuse('The file has several documents; it must have one JSON Schema.');
  const problem = findDemandProblem(document.value);
  if (problem !== undefined) {
    const { path: at, part, message, suggestion = errorCatalogue.E_OUTPUT_INVALID.suggestion } = tellProblem(problem);
    return refuse(message, document.placeOf(at, part), suggestion);
  }
  return isPlainObject(document.value) ? document.value : refuse('The file has no JSON Schema.');
}

const WRITE_SCHEMA = 'Write one JSON Schema into the file, as JSON or YAML in UTF-8.';

/** Describes a problem of a schema for people: with its place, and the keyword that a mistyped one most likely means. */
export function tellProblem({ path, message: told, unknownField }: SchemaProblem) {
  const message = `The schema for answers cannot be used: ${told}.`;
  if (unknownField === undefined) return { path, part: 'value', message, suggestion: undefined } as const;
  const meant = closestName(unknownField, demandKeywords);
  const suggestion = meant === undefined ? undefined : suggestName(meant, demandKeywords);
  return { path: [...path, unknownField], part: 'key', message, suggestion } as const;
}

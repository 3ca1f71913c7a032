/** Checks the schema for the answers of an Agent, in the resource or in a file that it names. */
import { posix } from 'node:path';
import { findDemandProblem } from '../../../json/find-demand-problem.ts';
import type { LoadedResource } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import type { Path } from '../place.ts';
import { type FileOwner, findFile } from './find-file.ts';
import { readSchemaIn, tellProblem } from './read-schema-file.ts';

interface WrittenOutput {
  readonly schema?: unknown;
  readonly schemaRef?: string | undefined;
}

/** Returns the schema of the file, if the resource names one, and adds all problems to `findings`. */
export async function inspectOutput(
  loaded: FileOwner,
  output: WrittenOutput | undefined,
  findings: Finding[],
): Promise<Pick<LoadedResource, 'outputSchema'>> {
  if (output === undefined) return {};
  const { schema, schemaRef } = output;
  if (schema !== undefined && schemaRef !== undefined) {
    const message = 'spec.output has both schema and schemaRef.';
    findings.push(errorIn(loaded, [...at, 'schemaRef'], 'E_RESOURCE_INVALID', message, 'Keep one of them.', 'key'));
    return {};
  }
  if (schemaRef !== undefined) return inspectFile(loaded, schemaRef, findings);
  if (schema === undefined) {
    const message = 'spec.output has neither schema nor schemaRef.';
    const suggestion = 'Write the JSON Schema of the answer under `schema`, or the name of its file under `schemaRef`.';
    findings.push(errorIn(loaded, at, 'E_RESOURCE_INVALID', message, suggestion));
    return {};
  }
  const problem = findDemandProblem(schema);
  if (problem !== undefined) {
    const { path, part, message, suggestion } = tellProblem(problem);
    findings.push(errorIn(loaded, [...at, 'schema', ...path], 'E_OUTPUT_INVALID', message, suggestion, part));
  }
  return {};
}

const at: Path = ['spec', 'output'];

function suggestPath(tried: string): string {
  return `Check \`output.schemaRef\`: it is relative to the folder of the bundle. Goondan looked for ${tried}`;
}

async function inspectFile(
  loaded: FileOwner,
  schemaRef: string,
  findings: Finding[],
): Promise<Pick<LoadedResource, 'outputSchema'>> {
  const path: Path = [...at, 'schemaRef'];
  const found = await findFile(loaded, schemaRef, path, 'E_OUTPUT_INVALID', suggestPath);
  if (typeof found !== 'string') {
    findings.push(found);
    return {};
  }
  const read = readSchemaIn(found, posix.normalize(schemaRef), loaded.identity);
  if (!Array.isArray(read)) return { outputSchema: read };
  findings.push(...read);
  return {};
}

/** Reads the demand for an answer that fits a schema, from a program, a bundle or another process. */
import { GoondanError, type JsonObject, type OutputDemand } from '@goondan/types';
import { copyJsonObject, isPlainObject } from './copy-json.ts';
import { findDemandProblem } from './find-demand-problem.ts';
import { describeSchema } from './standard-schema.ts';

/** How often a model may correct a wrong answer when the demand does not say it. */
export const DEFAULT_RETRIES = 2;
export const MOST_RETRIES = 10;

/** Returns a frozen copy of the demand, with a plain JSON Schema. **Errors** — `E_OUTPUT_INVALID`. */
export function readDemand(value: unknown): OutputDemand {
  if (!isPlainObject(value)) throw invalid('`output` is not an object; write `{ schema, retries }`');
  const { schema, retries, ...others } = value;
  const [strange] = Object.keys(others);
  if (strange !== undefined)
    throw invalid(`\`output\` has the unknown field "${strange}"; write \`{ schema, retries }\``);
  if (retries !== undefined && !isRetries(retries)) {
    throw invalid(`\`output.retries\` must be a whole number from 0 to ${MOST_RETRIES}`);
  }
  return Object.freeze({ schema: readSchema(schema), ...(retries === undefined ? {} : { retries }) });
}

function isRetries(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_RETRIES;
}

function readSchema(given: unknown): JsonObject {
  let schema: JsonObject;
  try {
    const { $schema: _draft, $id: _id, ...rest } = copyJsonObject(describeSchema(given), { omitUndefined: true });
    schema = copyJsonObject(rest, { freeze: true });
  } catch (error) {
    // A schema library throws if a type, such as a date, has no form in JSON.
    throw invalid(`its schema is not JSON: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  const problem = findDemandProblem(schema);
  if (problem !== undefined) throw invalid(`in its schema, ${problem.message}`);
  return schema;
}

function invalid(problem: string, cause?: unknown): GoondanError {
  const message = `The answer cannot be demanded: ${problem}.`;
  return new GoondanError('E_OUTPUT_INVALID', message, cause === undefined ? {} : { cause });
}

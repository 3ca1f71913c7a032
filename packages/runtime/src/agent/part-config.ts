/** The config of an extension or tool: the agent's config merged over the resource's, checked against every schema. */
import { type ErrorCode, GoondanError, type JsonObject, type JsonSchema } from '@goondan/types';
import { describeConfigProblem } from '../config/describe-config-problem.ts';
import { mergeConfig } from '../config/merge-config.ts';
import { copyJsonObject, isPlainObject } from '../json/copy-json.ts';
import { compileSchema, type SchemaCheck } from '../json/json-schema.ts';

/**
 * Merges and checks a config, and returns a copy. `identity`: the reference `Kind/name` of the extension or tool.
 * `schemas` may be anything, because modules are foreign code. Throws an error with the given code.
 */
export async function partConfig(
  identity: string,
  code: ErrorCode,
  under: JsonObject,
  over: JsonObject,
  schemas: readonly unknown[],
): Promise<JsonObject> {
  const refuse = ({ message }: Error) => new GoondanError(code, `The config of ${identity}: ${message}.`);
  const options = { omitUndefined: true, refuse };
  const config = mergeConfig(copyJsonObject(under, options), copyJsonObject(over, options));
  for (const schema of schemas) {
    if (schema === undefined) continue;
    const check = await compileConfigSchema(identity, code, schema);
    const problems = check(config);
    if (problems.length === 0) continue;
    const said = problems.map((problem) => describeConfigProblem(problem, config, schema)).join('; ');
    throw new GoondanError(code, `The config of ${identity} does not fit: ${said}.`);
  }
  return config;
}

async function compileConfigSchema(identity: string, code: ErrorCode, schema: unknown): Promise<SchemaCheck> {
  if (!isPlainObject(schema)) {
    throw new GoondanError(code, `The configSchema of ${identity} is not a JSON Schema object.`, {
      suggestion: 'Export a plain JSON Schema, such as `{ type: "object" }`.',
    });
  }
  try {
    // Safe: the validator needs an object, and checks its content itself.
    return await compileSchema(schema as JsonSchema, `the config of ${identity}`);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new GoondanError(code, problem, { suggestion: 'Correct configSchema.', cause: error });
  }
}

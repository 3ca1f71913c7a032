/** The config of an extension or tool: the agent's config merged over the resource's, checked against every schema. */
import { type ErrorCode, GoondanError, type JsonObject, type JsonSchema } from '@goondan/types';
import { mergeConfig } from '../config/merge-config.ts';
import { copyJsonObject, isPlainObject, NotJson } from '../json/copy-json.ts';
import { compileSchema, type SchemaCheck } from '../json/json-schema.ts';

/** The extension or tool that owns a config, and the code of its errors. */
export interface ConfiguredPart {
  /** The reference `Kind/name`. */
  readonly identity: string;
  readonly code: ErrorCode;
}

/**
 * Merges and checks a config, and returns a copy. `schemas` may be anything, because modules are foreign code. Throws
 * an error with the part's code.
 */
export async function partConfig(
  part: ConfiguredPart,
  under: JsonObject,
  over: JsonObject,
  schemas: readonly unknown[],
): Promise<JsonObject> {
  const config = mergeChecked(part, under, over);
  for (const schema of schemas) {
    if (schema === undefined) continue;
    const check = await compileConfigSchema(part, schema);
    const problems = check(config);
    if (problems.length === 0) continue;
    const said = problems.map(({ message }) => message).join('; ');
    throw new GoondanError(part.code, `The config of ${part.identity} does not fit: ${said}.`);
  }
  return config;
}

function mergeChecked({ identity, code }: ConfiguredPart, under: JsonObject, over: JsonObject): JsonObject {
  try {
    const options = { omitUndefined: true };
    return mergeConfig(copyJsonObject(under, options), copyJsonObject(over, options));
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new GoondanError(code, `The config of ${identity}: ${error.message}.`);
  }
}

async function compileConfigSchema({ identity, code }: ConfiguredPart, schema: unknown): Promise<SchemaCheck> {
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

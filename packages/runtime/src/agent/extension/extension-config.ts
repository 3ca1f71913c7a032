/** The config `register` gets: the agent's part over the resource's, checked against both schemas there may be. */
import { type ExtensionResource, GoondanError, type JsonObject, type JsonSchema } from '@goondan/types';
import { mergeConfig } from '../../config/merge-config.ts';
import { copyJsonObject, isPlainObject, NotJson } from '../../json/copy-json.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import { compileSchema, type SchemaCheck } from '../../json/json-schema.ts';

/** `moduleSchema` is what the module exports as `configSchema`: anything. Throws `E_EXT_CONFIG`. */
export async function extensionConfig(
  resource: ExtensionResource,
  over: JsonObject,
  moduleSchema: unknown,
): Promise<JsonObject> {
  const { name } = resource.metadata;
  const config = mergeChecked(name, resource.spec.config ?? {}, over);
  for (const schema of [resource.spec.configSchema, moduleSchema]) {
    if (schema === undefined) continue;
    const check = await compileConfigSchema(name, schema);
    const problems = check(config);
    if (problems.length === 0) continue;
    const said = problems.map(({ message }) => message).join('; ');
    throw new GoondanError('E_EXT_CONFIG', `The config of Extension/${name} does not fit: ${said}.`);
  }
  return config;
}

function mergeChecked(name: string, under: JsonObject, over: JsonObject): JsonObject {
  try {
    const options = { omitUndefined: true };
    return mergeConfig(copyJsonObject(under, options), copyJsonObject(over, options));
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new GoondanError('E_EXT_CONFIG', `The config of Extension/${name}: ${error.message}.`);
  }
}

async function compileConfigSchema(name: string, schema: unknown): Promise<SchemaCheck> {
  if (!isPlainObject(schema)) {
    throw new GoondanError('E_EXT_CONFIG', `The configSchema of Extension/${name} is not a JSON Schema object.`, {
      suggestion: 'Export a plain JSON Schema, such as `{ type: "object" }`.',
    });
  }
  try {
    // An object is all the validator asks for; what is in it is the validator's to judge.
    return await compileSchema(schema as JsonSchema, `the config of Extension/${name}`);
  } catch (error) {
    const suggestion = 'Correct configSchema.';
    throw new GoondanError('E_EXT_CONFIG', toTurnError(error).message, { suggestion, cause: error });
  }
}

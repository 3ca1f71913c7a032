/**
 * Finds the models that a config names and that its agent does not have. A field of a config schema with
 * `x-goondan-ref: Model` names a model.
 */
import type { JsonSchema, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { closestName, suggestName } from '../../closest-name.ts';
import type { LoadedResourceOf } from '../bundle.ts';
import { modelKeyOf, modelsOf } from '../list-models.ts';

/** The keyword for a text that names a model of the agent. Its value is `Model`. */
const MODEL_REFERENCE = 'x-goondan-ref';

export interface ModelProblem {
  /** The path in the config. */
  readonly keys: readonly string[];
  readonly message: string;
  readonly suggestion: string | undefined;
}

export function* findModelProblems(
  schema: JsonSchema | undefined,
  config: JsonValue,
  agents: readonly LoadedResourceOf<'Agent'>[],
): Generator<ModelProblem> {
  const named = [...listModels(schema, config, [])];
  if (named.length === 0) return;
  for (const agent of agents) {
    const known = modelsOf(agent).map(({ written }) => modelKeyOf(written));
    const move = agent.resource.spec.model === undefined ? '' : ', and move its `model` to spec.modelConfig.modelRef';
    for (const { keys, model } of named) {
      if (known.includes(model)) continue;
      const message = `${keys.join('.')} names ${model}, which is not a model of ${agent.identity}.`;
      const meant = closestName(model, known);
      const suggestion =
        meant === undefined
          ? `Add ${model} to spec.modelConfig.models of ${agent.identity}${move}.`
          : suggestName(meant, known);
      yield { keys, message, suggestion };
    }
  }
}

function* listModels(
  schema: unknown,
  value: JsonValue | undefined,
  keys: readonly string[],
): Generator<{ readonly keys: readonly string[]; readonly model: string }> {
  if (!isPlainObject(schema) || value === undefined) return;
  if (schema[MODEL_REFERENCE] === 'Model' && typeof value === 'string') yield { keys, model: value };
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* listModels(schema['items'], item, [...keys, String(index)]);
    return;
  }
  const { properties } = schema;
  if (!isPlainObject(properties) || !isPlainObject(value)) return;
  for (const [name, field] of Object.entries(properties)) yield* listModels(field, value[name], [...keys, name]);
}

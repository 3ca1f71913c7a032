/**
 * The part of a Model resource that shapes the body of its requests. It is recorded, so that the body can be built again
 * later. Keys, addresses, headers and time limits do not belong to it.
 */
import type { JsonObject, ModelParams } from '@goondan/types';
import { copyJsonObject } from '../../../json/copy-json.ts';
import type { ModelSpec } from '../../../config/model-spec.ts';
import type { CallSettings } from './read-provider-options.ts';

/** A type alias, because an interface would not count as JSON. */
export type ModelShape = {
  /** The `params` of the Model. */
  readonly params: JsonObject;
  /** Params that neither the Model nor the request has, and that the provider requires. */
  readonly defaults?: JsonObject;
  /** The `options` of the Model, without headers and time limits. */
  readonly options: JsonObject;
};

/** Returns the shape of a model. It is frozen, so that the same object is recorded in each request. */
export function shapeOf(
  { params = {}, options = {} }: Pick<ModelSpec, 'params' | 'options'>,
  { stream, systemMessages }: CallSettings,
  defaults: ModelParams = {},
): ModelShape {
  const { headers: _headers, timeouts: _timeouts, ...shaping } = options;
  const shape = {
    params,
    options: { ...shaping, stream, systemMessages },
    ...(Object.keys(defaults).length > 0 && { defaults }),
  };
  // Safe: the copy has the same fields, and a resource is JSON.
  return copyJsonObject(shape, { freeze: true, omitUndefined: true }) as unknown as ModelShape;
}

/** Returns the fields of a Model resource that give a model of this shape. */
export function specOf({ params, defaults, options }: ModelShape): Pick<ModelSpec, 'params' | 'options'> {
  return { params: { ...defaults, ...params }, options };
}

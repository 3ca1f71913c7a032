/** Finds who chose the model of a request and each of its params: the agent, the Model, a layer, or the provider. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import type { EffectRecord } from '../../trace/effect-record.ts';
import type { ModelRequestRecord, RequestReferences } from '../../trace/model-request.ts';
import type { LayerRecord } from '../../trace/turn-trace.ts';
import type { PartAuthor, RebuiltParam, RebuiltRequest } from './rebuilt-call.ts';

interface RecordedFields {
  readonly asked: ModelRequestRecord;
  readonly request: RequestReferences;
  /** The layer that made the call; absent when a step made it. */
  readonly by: EffectRecord['by'];
  /** The layers of the call, outermost first; absent when the chain is not in the trace. */
  readonly layers: readonly LayerRecord[] | undefined;
  /** The settings of the model; absent when they are not known. */
  readonly shape: JsonObject | undefined;
  readonly agentName: string;
}

export function attributeFields(recorded: RecordedFields): Pick<RebuiltRequest, 'modelAuthor' | 'params'> {
  const { asked, request, shape } = recorded;
  const given = isPlainObject(asked.params) ? asked.params : {};
  const unset = request.unset ?? [];
  const isGiven = (name: string) => Object.hasOwn(given, name) || unset.includes(name);
  const ofModel: PartAuthor = { kind: 'model', ref: asked.modelRef };
  const own = entriesOf(shape?.['params'], ofModel).filter(({ name }) => name === OPTIONS || !isGiven(name));
  const defaults = entriesOf(shape?.['defaults'], { kind: 'provider', name: request.provider });
  const options = isPlainObject(shape?.['options']) ? shape['options'] : {};
  const always = options[OPTIONS];
  return {
    modelAuthor: authorOf('modelRef', recorded),
    params: [
      ...(always === undefined ? [] : [{ name: OPTIONS, value: always, author: ofModel }]),
      ...defaults.filter(({ name }) => !isGiven(name)),
      ...own,
      ...Object.entries(given).map(([name, value]) => ({ name, value, author: authorOf(`params.${name}`, recorded) })),
      ...unset.map((name) => ({ name, author: authorOf(`params.${name}`, recorded, { kind: 'unknown' }) })),
    ],
  };
}

/** The options of the Model, of its params and of the request are merged. */
const OPTIONS = 'providerOptions';

function entriesOf(params: JsonValue | undefined, author: PartAuthor): RebuiltParam[] {
  return isPlainObject(params) ? Object.entries(params).map(([name, value]) => ({ name, value, author })) : [];
}

/**
 * Returns the author of a field such as `modelRef` or `params.temperature`. `otherwise`: the author of a field that neither
 * a layer nor the asking extension set. A layer's change to a field without a value is not recorded.
 */
function authorOf(
  field: string,
  { request, by, layers, agentName }: RecordedFields,
  otherwise: PartAuthor = { kind: 'agent', name: agentName },
): PartAuthor {
  if (layers === undefined) return { kind: 'unknown' };
  const layer = layers.findLast(({ changed }) => changed.some(({ path }) => isWithin(path, field)));
  if (layer !== undefined) {
    const { extension, name, kind } = layer;
    return { kind: 'layer', layer: { extension, name, kind } };
  }
  if (by !== undefined && request.own?.includes(field) === true) return { kind: 'extension', name: by.extension };
  return otherwise;
}

/** Returns true if a change at `path` changes the field, something inside it, or all params. */
function isWithin(path: string, field: string): boolean {
  if (path === 'params') return field.startsWith('params.');
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

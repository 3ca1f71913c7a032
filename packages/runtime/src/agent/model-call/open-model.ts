/**
 * Opens a model from the spec of its resource. Each kind of model is one line of the table below, and no other file of
 * the runtime knows the kinds. The code of a kind is imported when the first model of that kind is opened.
 */
import { GoondanError } from '@goondan/types';
import type { Model, ModelDeps, ModelSource } from '../model/model-port.ts';
import type { ModelSpec } from '../../config/model-spec.ts';
import type { ProviderName } from '../model/providers/provider-table.ts';

const openers: Readonly<Record<string, (spec: ModelSpec, deps: ModelDeps) => Promise<Model>>> = {
  anthropic: provider('anthropic'),
  cassette: async (spec, deps) => {
    const { openCassetteModel } = await import('../model/cassette/open-cassette-model.ts');
    return openCassetteModel(spec, deps);
  },
  google: provider('google'),
  openai: provider('openai'),
  'openai-compatible': provider('openai-compatible'),
  scripted: async (spec, deps) => {
    const { openScriptedModel } = await import('../model/scripted/open-scripted-model.ts');
    return openScriptedModel(spec.options ?? {}, deps.clock);
  },
};

/**
 * Opens the model. **Errors** — `E_MODEL_UNKNOWN` for an unknown provider; other mistakes in the resource have the
 * codes of the model's kind.
 */
export async function openModel(modelRef: string, spec: ModelSpec, deps: ModelDeps): Promise<Model> {
  const open = Object.hasOwn(openers, spec.provider) ? openers[spec.provider] : undefined;
  if (open !== undefined) return open(spec, deps);
  throw new GoondanError(
    'E_MODEL_UNKNOWN',
    `${modelRef}: there is no provider "${spec.provider}". Known: ${Object.keys(openers).join(', ')}.`,
  );
}

function provider(name: ProviderName) {
  return async (spec: ModelSpec, deps: ModelDeps) => {
    const { openProviderModel } = await import('../model/providers/open-provider-model.ts');
    return openProviderModel(name, spec, deps);
  };
}

/** `before`: the source of the plan before this one. Models that it has opened and that are unchanged stay open. */
export function modelSource(
  entries: ModelSource['entries'],
  deps: Omit<ModelDeps, 'openUpstream'>,
  before?: ModelSource,
): ModelSource {
  const opened = new Map<string, Promise<Model>>(before === undefined ? [] : unchangedModels(before, entries));
  const open = (modelRef: string) => {
    const known = opened.get(modelRef);
    if (known !== undefined) return known;
    const entry = Object.hasOwn(entries, modelRef) ? entries[modelRef] : undefined;
    if (entry === undefined) return Promise.reject(unknownModel(modelRef, Object.keys(entries)));
    const model = 'generate' in entry ? Promise.resolve(entry) : openModel(modelRef, entry, withUpstream);
    opened.set(modelRef, model);
    return model;
  };
  const withUpstream: ModelDeps = { ...deps, openUpstream: open };
  return Object.assign(open, { entries, opened });
}

function unchangedModels({ entries: old, opened }: ModelSource, entries: ModelSource['entries']) {
  const isUnchanged = (modelRef: string): boolean => {
    if (!isSameModel(old[modelRef], entries[modelRef])) return false;
    const upstream = upstreamOf(entries[modelRef]);
    return upstream === undefined || isUnchanged(upstream);
  };
  return [...opened].filter(([modelRef]) => isUnchanged(modelRef));
}

/** Returns the model that a cassette records. A bundle in which a cassette records itself is refused before. */
function upstreamOf(entry: Model | ModelSpec | undefined): string | undefined {
  const { upstream } = (entry !== undefined && 'options' in entry && entry.options) || {};
  return typeof upstream === 'string' ? upstream : undefined;
}

function isSameModel(one: Model | ModelSpec | undefined, other: Model | ModelSpec | undefined): boolean {
  if (one === undefined || other === undefined || 'generate' in one || 'generate' in other) return one === other;
  return Bun.deepEquals(one, other, true);
}

function unknownModel(modelRef: string, refs: readonly string[]): GoondanError {
  return new GoondanError('E_MODEL_UNKNOWN', `There is no ${modelRef}. This agent has: ${refs.join(', ')}.`);
}

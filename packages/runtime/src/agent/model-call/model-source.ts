import { GoondanError } from '@goondan/types';
import type { Model, ModelDeps, ModelSource } from '../model/model-port.ts';
import type { ModelSpec } from '../../config/model-spec.ts';
import { openModel } from './open-model.ts';

/** Returns the models of an agent by reference. Each model is opened when it is first used. */
export function modelSource(
  entries: Readonly<Record<string, Model | ModelSpec>>,
  deps: Omit<ModelDeps, 'openUpstream'>,
): ModelSource {
  const opened = new Map<string, Promise<Model>>();
  const refs = Object.keys(entries);
  const source: ModelSource = {
    refs,
    open(modelRef) {
      const known = opened.get(modelRef);
      if (known !== undefined) return known;
      const entry = Object.hasOwn(entries, modelRef) ? entries[modelRef] : undefined;
      if (entry === undefined) return Promise.reject(unknownModel(modelRef, refs));
      const model = 'generate' in entry ? Promise.resolve(entry) : openModel(modelRef, entry, withUpstream);
      opened.set(modelRef, model);
      return model;
    },
  };
  const withUpstream: ModelDeps = { ...deps, openUpstream: (modelRef) => source.open(modelRef) };
  return source;
}

function unknownModel(modelRef: string, refs: readonly string[]): GoondanError {
  return new GoondanError('E_MODEL_UNKNOWN', `There is no ${modelRef}. This agent has: ${refs.join(', ')}.`);
}

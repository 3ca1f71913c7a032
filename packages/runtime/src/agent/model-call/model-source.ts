import { GoondanError } from '@goondan/types';
import type { Model, ModelDeps } from '../model/model-port.ts';
import type { ModelSpec } from '../../config/model-spec.ts';
import { openModel } from './open-model.ts';

/** Returns a function that finds a model of an agent by its reference. Each model is opened when it is first used. */
export function modelSource(
  entries: Readonly<Record<string, Model | ModelSpec>>,
  deps: Omit<ModelDeps, 'openUpstream'>,
): (modelRef: string) => Promise<Model> {
  const opened = new Map<string, Promise<Model>>();
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
  return open;
}

function unknownModel(modelRef: string, refs: readonly string[]): GoondanError {
  return new GoondanError('E_MODEL_UNKNOWN', `There is no ${modelRef}. This agent has: ${refs.join(', ')}.`);
}

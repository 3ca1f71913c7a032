/**
 * Opens a model by the name of its provider. Every kind of model is one line of the table below; nothing else in the
 * runtime knows which kinds there are.
 */
import { GoondanError } from '@goondan/types';
import { openCassetteModel } from './cassette/open-cassette-model.ts';
import type { Model } from './model-port.ts';
import type { ModelPorts, ModelSpec } from './model-spec.ts';
import { openProviderModel } from './providers/open-provider-model.ts';

type OpenModel = (spec: ModelSpec, ports: ModelPorts) => Model | Promise<Model>;

const openers: Readonly<Record<string, OpenModel>> = {
  anthropic: (spec, ports) => openProviderModel('anthropic', spec, ports),
  cassette: openCassetteModel,
  google: (spec, ports) => openProviderModel('google', spec, ports),
  openai: (spec, ports) => openProviderModel('openai', spec, ports),
  'openai-compatible': (spec, ports) => openProviderModel('openai-compatible', spec, ports),
};

/** **Errors** — `E_RESOURCE_INVALID` for what is wrong in the resource, `E_MODEL_KEY` for a missing key: all at start. */
export async function openModel(spec: ModelSpec, ports: ModelPorts): Promise<Model> {
  const open = Object.hasOwn(openers, spec.provider) ? openers[spec.provider] : undefined;
  if (open === undefined) {
    throw new GoondanError('E_RESOURCE_INVALID', `There is no model provider "${spec.provider}".`, {
      suggestion: `Use one of ${Object.keys(openers).join(', ')}.`,
    });
  }
  return open(spec, ports);
}

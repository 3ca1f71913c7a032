/** Opens a model by what its resource says. Providers are imported when one is first used. */
import { GoondanError, type JsonObject } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { Model } from './model-port.ts';

/** `kind: Model`, its values resolved. */
export interface ModelSpec {
  readonly provider: string;
  readonly model: string;
  readonly options?: JsonObject;
}

type Opener = (spec: ModelSpec, clock: Clock) => Promise<Model>;

const providers: Record<string, Opener> = {
  scripted: async (spec, clock) => {
    const { openScriptedModel } = await import('./scripted/open-scripted-model.ts');
    return openScriptedModel(spec.options ?? {}, clock);
  },
};

export async function openModel(modelRef: string, spec: ModelSpec, clock: Clock): Promise<Model> {
  const open = Object.hasOwn(providers, spec.provider) ? providers[spec.provider] : undefined;
  if (open !== undefined) return open(spec, clock);
  throw new GoondanError(
    'E_MODEL_UNKNOWN',
    `${modelRef}: there is no provider "${spec.provider}". Known: ${Object.keys(providers).join(', ')}.`,
  );
}

/**
 * `model-fallback`: when a model fails, another one answers.
 *
 * 1. A layer calls `next()` once. So the layer throws an error with `isFallback`, the runtime makes the call again, and the
 *    layer then chooses the next model.
 * 2. The models that failed in a call are in the metadata of the turn, which a retried and a resumed step keep. So each
 *    model is tried once, and a resumed step chooses the model whose reply is recorded.
 * 3. The model that took over is in the state of the extension, so the conversation stays with it, also after a restart.
 */
import { type ExtensionRegister, GoondanError, type JsonValue, type ModelFailure } from '@goondan/types';
import { chooseModel, type FallbackState, readState, writeState } from './choose-model.ts';

export interface ModelFallbackConfig {
  /** The models in the order in which they are tried, after the model that the call asks for. */
  readonly models: readonly string[];
  /** The failures after which the next model is tried. */
  readonly failures?: readonly ModelFailure[];
  /** The time during which a model that failed is not tried again. */
  readonly cooldownMs?: number;
  readonly sticky?: boolean;
}

const usualFailures: readonly ModelFailure[] = ['rate-limit', 'server', 'timeout', 'unreachable'];

export const register: ExtensionRegister<ModelFallbackConfig> = (api, config, { name }) => {
  const { models, failures = usualFailures, cooldownMs = 60_000, sticky = true } = config;

  api.pipeline.register(
    'model',
    async (ctx) => {
      const asked = ctx.modelRef;
      const chain = [asked, ...models.filter((model) => model !== asked)];
      const key = ctx.extension === undefined ? `${name}.tried` : `${name}.tried.${ctx.extension}`;
      const tried = textsIn(ctx.metadata[key]);
      const choose = (state: FallbackState, failed: readonly string[]) =>
        chooseModel(state, { chain, tried: failed, sticky, now: Date.now() });

      const before = readState(await api.state.get());
      const chosen = choose(before, tried) ?? asked;
      if (chosen !== asked) {
        ctx.modelRef = chosen;
        ctx.modelReason = before.instead[asked]?.reason;
      }
      try {
        const reply = await ctx.next();
        delete ctx.metadata[key];
        await settle(asked, chosen);
        return reply;
      } catch (error) {
        const failure = failureOf(error);
        // Another layer chose a model of its own, and its failure is not ours.
        if (failure === undefined || ctx.modelRef !== chosen) {
          delete ctx.metadata[key];
          throw error;
        }
        const { message, code, retryAfterMs = 0 } = failure;
        const reason = `${chosen} failed (${failure.failure})`;
        const now = Date.now();
        const state = readState(await api.state.get());
        const cooling = { ...state.cooling, [chosen]: now + Math.max(cooldownMs, retryAfterMs) };
        const model = choose({ ...state, cooling }, [...tried, chosen]);
        const { [asked]: _, ...others } = state.instead;
        const instead = model === undefined ? others : { ...others, [asked]: { model, reason } };
        await api.state.set(writeState({ instead, cooling }, now));
        if (model === undefined) {
          // All models have failed. The runtime may retry, and then the first model is tried again.
          delete ctx.metadata[key];
          throw error;
        }
        ctx.metadata[key] = [...tried, chosen];
        const told = `${reason}, ${model} takes over`;
        throw new GoondanError(code, `${told}: ${message}`, { cause: error, retryable: true, isFallback: true });
      }
    },
    { name: 'fall back' },
  );

  /** Returns the error, if the next model is tried after it. */
  function failureOf(error: unknown): GoondanError | undefined {
    if (!GoondanError.is(error) || error.failure === undefined) return undefined;
    return failures.includes(error.failure) ? error : undefined;
  }

  /** Forgets the takeover when the asked model answers again. */
  async function settle(asked: string, answered: string): Promise<void> {
    if (asked !== answered) return;
    const state = readState(await api.state.get());
    if (state.instead[asked] === undefined) return;
    const { [asked]: _, ...instead } = state.instead;
    await api.state.set(writeState({ ...state, instead }, Date.now()));
  }
};

function textsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

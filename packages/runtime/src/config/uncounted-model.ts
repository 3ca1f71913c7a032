/** Finds the reason why a budget cannot count the calls of a model: its price or the maximum of its answers is not known. */
import { type Budget, findPrice, type Prices, type ProviderOptions } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';

/** The facts of a model that budgets need. */
export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  readonly params?: AnswerParams | undefined;
  readonly options?: object | undefined;
}

interface AnswerParams {
  readonly maxTokens?: number | undefined;
  readonly providerOptions?: Readonly<ProviderOptions> | undefined;
}

/** The tokens that `@ai-sdk/anthropic` adds for thinking whose budget is not given. */
const USUAL_THINKING = 1_024;

export interface UncountedModel {
  /** Text to follow `… has a budget of tokens, but`. */
  readonly problem: string;
  readonly suggestion: string;
}

/** `modelRef`: the name of the model for the agent. `params`: the settings of the agent. */
export function findUncountedModel(
  { measure, prices }: Pick<Budget, 'measure' | 'prices'>,
  modelRef: string,
  spec: PricedModel,
  params: AnswerParams,
): UncountedModel | undefined {
  if (measure === 'calls') return undefined;
  const most = mostOutputOf(spec, params, prices);
  if (measure === 'money' && (prices === undefined || findPrice(prices, spec) === undefined)) {
    const maximum = most === undefined ? '`input`, `output` and `maxOutputTokens`' : '`input` and `output`';
    const suggestion = `Add the provider "${spec.provider}" and the model "${spec.model}" to \`prices.models\` of the extension, with ${maximum}.`;
    return { problem: `${modelRef} has no price`, suggestion };
  }
  if (most !== undefined) return undefined;
  const own = modelRef.startsWith('Model/')
    ? `\`params.maxTokens\` of ${modelRef}`
    : '`modelConfig.params.maxTokens` of the agent';
  const suggestion = `Set ${own}, or \`maxOutputTokens\` of the model in \`prices.models\` of the extension.`;
  return { problem: `an answer of ${modelRef} may be as long as the model allows`, suggestion };
}

/**
 * Returns the most tokens of an answer, with its thinking; `undefined` if neither the settings nor the model nor the price has
 * a maximum.
 */
export function mostOutputOf(
  spec: PricedModel | undefined,
  params: AnswerParams,
  prices: Prices | undefined,
): number | undefined {
  const most = mostTextOf(spec, params, prices);
  return most === undefined ? undefined : most + thinkingOf(spec, params);
}

/** Returns the maximum of an answer as it is sent to the provider. Some servers take -1 for an answer of any length. */
export function mostTextOf(
  spec: PricedModel | undefined,
  params: AnswerParams,
  prices: Prices | undefined,
): number | undefined {
  const own = params.maxTokens ?? spec?.params?.maxTokens;
  if (isCount(own)) return own;
  return spec && prices && findPrice(prices, spec)?.maxOutputTokens;
}

/** Returns the tokens for thinking, which the package of Anthropic adds to the maximum of the answer. */
function thinkingOf(spec: PricedModel | undefined, params: AnswerParams): number {
  if (spec?.provider !== 'anthropic') return 0;
  // The settings of the call win over those of the model, as in the request.
  const sources = [params, spec.params, spec.options];
  const found = sources.map(readThinking).find((thinking) => thinking !== undefined);
  if (!isPlainObject(found) || found['type'] !== 'enabled') return 0;
  const { budgetTokens } = found;
  return isCount(budgetTokens) ? budgetTokens : USUAL_THINKING;
}

/** Returns false for a negative number, too: with it, every call would fit into a budget. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function readThinking(source: object | undefined): unknown {
  const options: unknown = source && 'providerOptions' in source ? source.providerOptions : undefined;
  const own = isPlainObject(options) ? options['anthropic'] : undefined;
  return isPlainObject(own) ? own['thinking'] : undefined;
}

export function describeUncounted(extension: string, measure: Budget['measure'], problem: string): string {
  return `${extension} has a budget of ${measure}, but ${problem}.`;
}

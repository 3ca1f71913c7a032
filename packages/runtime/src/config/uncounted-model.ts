/** Finds the reason why a budget cannot count the calls of a model: its price or the maximum of its answers is not known. */
import { type Budget, findPrice, type Prices } from '@goondan/types';

/** The facts of a model that budgets need. */
export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  readonly params?: AnswerParams | undefined;
}

interface AnswerParams {
  readonly maxTokens?: number | undefined;
}

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

/** Returns the most tokens of an answer; `undefined` if neither the settings nor the model nor the price has a maximum. */
export function mostOutputOf(
  spec: PricedModel | undefined,
  params: AnswerParams,
  prices: Prices | undefined,
): number | undefined {
  const own = params.maxTokens ?? spec?.params?.maxTokens;
  if (own !== undefined || spec === undefined || prices === undefined) return own;
  return findPrice(prices, spec)?.maxOutputTokens;
}

export function describeUncounted(extension: string, measure: Budget['measure'], problem: string): string {
  return `${extension} has a budget of ${measure}, but ${problem}.`;
}

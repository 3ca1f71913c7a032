/**
 * Prices of models, and the cost of tokens. Pure: a price file is read elsewhere, and its contents are checked here. A
 * price that is not known is never guessed.
 */
import type { TokenUsage } from './model.ts';

/** The contents of a price file. */
export interface Prices {
  /** The currency of all prices, such as `USD`. */
  readonly currency: string;
  readonly models: readonly ModelPrice[];
}

/** The prices of one model, for a million tokens each. */
export interface ModelPrice {
  /** The provider, as in `Model.spec.provider`. */
  readonly provider: string;
  /** The name of the model, as in `Model.spec.model`. */
  readonly model: string;
  readonly input: number;
  readonly output: number;
  /** For input that the provider reads from its cache. */
  readonly cacheRead?: number;
  /** For input that the provider writes to its cache. */
  readonly cacheWrite?: number;
  /** For reasoning, if it is not that of other output. */
  readonly reasoning?: number;
  /** The most tokens of one reply. */
  readonly maxOutputTokens?: number;
  /** The page or the contract with these prices. */
  readonly source: string;
  /** The day on which they were looked up, as `2026-11-17`. */
  readonly date: string;
}

/** A mistake in a price file. `path`: the keys and indexes that lead to the value. */
export interface PriceProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const PER = 1_000_000;

export function findPrice(
  { models }: Prices,
  of: { readonly provider: string; readonly model: string },
): ModelPrice | undefined {
  return models.find(({ provider, model }) => provider === of.provider && model === of.model);
}

/** Returns the cost of tokens. Returns `undefined` if a price that it needs, such as that of the cache, is not known. */
export function priceOf(usage: TokenUsage, price: ModelPrice): number | undefined {
  const { cachedInputTokens: read = 0, cacheWriteTokens: written = 0, reasoningTokens: reasoned = 0 } = usage;
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = output } = price;
  if (missingPrices(usage, price).length > 0) return undefined;
  // The ledger may have parts that are larger than their whole, and no call earns money.
  const plain = Math.max(0, usage.inputTokens - read - written);
  const said = Math.max(0, usage.outputTokens - reasoned);
  const asked = plain * input + read * cacheRead + written * cacheWrite;
  return (asked + said * output + reasoned * reasoning) / PER;
}

/** Returns the fields of a price file without which the cost of these tokens is not known. */
export function missingPrices(
  { cachedInputTokens = 0, cacheWriteTokens = 0 }: TokenUsage,
  { cacheRead, cacheWrite }: ModelPrice,
): readonly ('cacheRead' | 'cacheWrite')[] {
  return [
    ...(cachedInputTokens > 0 && cacheRead === undefined ? (['cacheRead'] as const) : []),
    ...(cacheWriteTokens > 0 && cacheWrite === undefined ? (['cacheWrite'] as const) : []),
  ];
}

/** Returns the most that this many tokens can cost, whichever part of them the provider caches or spends on reasoning. */
export function highestPriceOf(
  tokens: { readonly inputTokens: number; readonly outputTokens: number },
  { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: ModelPrice,
): number {
  const asked = tokens.inputTokens * Math.max(input, cacheRead, cacheWrite);
  return (asked + tokens.outputTokens * Math.max(output, reasoning)) / PER;
}

/** Checks the contents of a price file. Returns the prices, or all mistakes. */
export function checkPrices(value: unknown): Prices | { readonly problems: readonly PriceProblem[] } {
  const problems: PriceProblem[] = [];
  const report = (path: PriceProblem['path'], message: string) => void problems.push({ path, message });
  if (!isObject(value)) return { problems: [{ path: [], message: 'must be an object with `currency` and `models`' }] };
  refuseUnknown(value, ['currency', 'models'], [], report);
  if (typeof value.currency !== 'string' || !/^[A-Z]{3}$/.test(value.currency)) {
    report(['currency'], 'must be a currency code of three letters, such as `USD`');
  }
  if (Array.isArray(value.models)) checkModels(value.models, report);
  else report(['models'], 'must be a list of models');
  // Safe: everything was checked, and a mistake is in `problems`.
  return problems.length > 0 ? { problems } : (value as unknown as Prices);
}

type Report = (path: PriceProblem['path'], message: string) => void;

function checkModels(models: readonly unknown[], report: Report): void {
  const seen = new Map<string, number>();
  for (const [index, each] of models.entries()) {
    if (!isObject(each)) {
      report(['models', index], 'must be an object');
      continue;
    }
    checkModel(each, ['models', index], report);
    const name = JSON.stringify([each.provider, each.model]);
    const first = seen.get(name);
    if (first === undefined) seen.set(name, index);
    else report(['models', index, 'model'], `is priced twice: models[${first}] has the same provider and model`);
  }
}

const texts = ['provider', 'model', 'source'] as const;
const neededPrices = ['input', 'output'] as const;
const otherPrices = ['cacheRead', 'cacheWrite', 'reasoning'] as const;
const fields = [...texts, ...neededPrices, ...otherPrices, 'date', 'maxOutputTokens'];

function checkModel(model: Record<string, unknown>, path: PriceProblem['path'], report: Report): void {
  refuseUnknown(model, fields, path, report);
  for (const name of texts) {
    if (typeof model[name] !== 'string' || model[name] === '') report([...path, name], 'must be a text');
  }
  for (const name of [...neededPrices, ...otherPrices]) {
    const price = model[name];
    if (price === undefined && otherPrices.some((other) => other === name)) continue;
    if (!isPrice(price)) report([...path, name], 'must be a number of at least 0: the price of a million tokens');
  }
  if (typeof model.date !== 'string' || !isDay(model.date)) {
    report([...path, 'date'], 'must be the day on which the price was looked up, such as `2026-11-17`');
  }
  const { maxOutputTokens: most } = model;
  if (most !== undefined && !(Number.isSafeInteger(most) && Number(most) > 0)) {
    report([...path, 'maxOutputTokens'], 'must be a whole number above 0');
  }
}

function refuseUnknown(value: object, known: readonly string[], path: PriceProblem['path'], report: Report): void {
  for (const name of Object.keys(value)) {
    if (!known.includes(name))
      report([...path, name], `is not a field of a price file; known here: ${known.join(', ')}`);
  }
}

function isPrice(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${text}T`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

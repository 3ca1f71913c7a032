/**
 * Finds the mistakes in the config of `budget` that a schema cannot find, or only with five errors for one mistake. Values
 * that do not fit the schema are skipped.
 */
import { type Budget, budgetNameOf, checkPrices, type ErrorCode, type JsonObject, type Prices } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { describeUncounted, findUncountedModel, type PricedModel } from '../../uncounted-model.ts';
import type { FoundResource } from '../find-resource.ts';
import { listModels } from '../list-models.ts';

export interface BudgetProblem {
  readonly code: ErrorCode;
  /** The path in the config. */
  readonly keys: readonly string[];
  readonly message: string;
  readonly suggestion?: string;
}

const measures = ['calls', 'tokens', 'money'] as const;
const scopes = ['turn', 'conversation', 'agent', 'swarm'] as const;
const fields: readonly string[] = [...measures, 'name', 'scope', 'per', 'onBreach'];

/** `identity`: the extension. `agents`: those whose calls are counted. */
export function* findBudgetProblems(
  { budgets, prices: given }: JsonObject,
  identity: string,
  agents: readonly FoundResource<'Agent'>[],
): Generator<BudgetProblem> {
  const wrong = (keys: readonly string[], problem: string): BudgetProblem => ({
    code: 'E_EXT_CONFIG',
    keys,
    message: `The config of ${identity} does not fit: ${keys.join('.')} ${problem}.`,
  });
  const checked = isPlainObject(given) ? checkPrices(given) : undefined;
  const prices = checked === undefined || 'problems' in checked ? undefined : checked;
  if (checked !== undefined && 'problems' in checked) {
    for (const { path, message } of checked.problems) yield wrong(['prices', ...path.map(String)], message);
  }
  const names = new Map<string, { readonly index: number; readonly isNamed: boolean }>();
  for (const [index, budget] of (Array.isArray(budgets) ? budgets : []).entries()) {
    if (!isPlainObject(budget)) continue;
    const keys = ['budgets', String(index)];
    const found = measures.filter((each) => budget[each] !== undefined);
    const [measure] = found;
    if (measure === undefined || found.length > 1) {
      // A field that nobody knows is a typing mistake, and the schema reports it.
      if (Object.keys(budget).every((field) => fields.includes(field))) {
        yield wrong(keys, `must have exactly one of ${measures.join(', ')}`);
      }
      continue;
    }
    const name = nameOf(budget, measure);
    const earlier = name === undefined ? undefined : names.get(name);
    if (earlier !== undefined) yield wrong([...keys, ...nameKey(budget)], repeats(budget, earlier));
    if (name !== undefined) names.set(name, earlier ?? { index, isNamed: typeof budget['name'] === 'string' });
    if (measure === 'money' && given === undefined) {
      yield wrong([...keys, measure], 'needs `prices`: the contents of a price file');
    }
    // Without readable prices, their mistakes are enough to correct.
    if (given !== undefined ? prices !== undefined : measure === 'tokens') {
      yield* findUncounted({ measure, ...(prices && { prices }) }, [...keys, measure], identity, agents);
    }
  }
}

/** Finds the models that a budget cannot count, each once. */
function* findUncounted(
  budget: { readonly measure: Budget['measure']; readonly prices?: Prices },
  keys: readonly string[],
  identity: string,
  agents: readonly FoundResource<'Agent'>[],
): Generator<BudgetProblem> {
  const seen = new Set<string>();
  for (const { scope, loaded } of agents) {
    for (const { key, named, found } of listModels(scope, loaded)) {
      const { params = {} } = loaded.resource.spec.modelConfig ?? {};
      const spec: PricedModel = found === undefined ? named : found.loaded.resource.spec;
      const uncounted = findUncountedModel(budget, key, spec, params);
      if (uncounted === undefined || seen.has(uncounted.problem)) continue;
      seen.add(uncounted.problem);
      const { problem, suggestion } = uncounted;
      yield {
        code: 'E_BUDGET_UNBOUNDED',
        keys,
        message: describeUncounted(identity, budget.measure, problem),
        suggestion,
      };
    }
  }
}

/**
 * Returns the name that the extension gives a budget; `undefined` if its scope does not fit. Two budgets of the same name would
 * share a counter.
 */
function nameOf({ name, scope: given = 'swarm', per }: JsonObject, measure: Budget['measure']): string | undefined {
  if (typeof name === 'string') return name;
  const scope = scopes.find((each) => each === given);
  return scope && budgetNameOf({ measure, scope, ...(per !== undefined && { per: 'day' }) });
}

function nameKey({ name }: JsonObject): readonly string[] {
  return typeof name === 'string' ? ['name'] : [];
}

function repeats(
  { name }: JsonObject,
  { index, isNamed }: { readonly index: number; readonly isNamed: boolean },
): string {
  const same = `budgets.${index}`;
  if (typeof name === 'string') return `is the name of ${same}, too`;
  if (isNamed) return `has no \`name\`, and would get that of ${same}: give it another one`;
  return `counts the same as ${same}: give one of them a \`name\``;
}

/**
 * Checks the configs of extensions, tools and connectors against the schemas that their resources declare. Each use of
 * such a resource is checked with the config of that use. Hooks, budgets and rules are checked further than by their schema.
 */
import { type CodePlace, findPatternProblem, type JsonObject } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import type { SchemaCheck } from '../../../json/json-schema.ts';
import { describeConfigProblem } from '../../describe-config-problem.ts';
import { mergeConfig } from '../../merge-config.ts';
import { listExtensions } from '../agent-hooks.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { APPROVAL_EXTENSION, BUDGET_EXTENSION, HOOKS_EXTENSION } from '../base-library.ts';
import { errorAt, errorIn, type Finding, warningIn } from '../bundle-problem.ts';
import { findResource, type FoundResource, resourcesOf } from '../find-resource.ts';
import { type Path, pathText, valueAt } from '../place.ts';
import { configOf, type ListItem, referenceOf } from '../references.ts';
import { configErrors, findConfigProblems, readConfigSchema, toPath } from './config-schema.ts';
import { findBudgetProblems } from './find-budget-problems.ts';
import { findHookProblems } from './find-hook-problems.ts';
import { findModelProblems } from './find-model-problems.ts';

export async function checkConfigs(scopes: readonly Scope[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const checks = new Map<Use['used'], () => Promise<SchemaCheck | undefined>>();
  const kinds = ['Extension', 'Tool', 'Connector'] as const;
  for (const loaded of scopes.flatMap((scope) => kinds.flatMap((kind) => resourcesOf(scope, kind)))) {
    const found = readConfigSchema(loaded);
    if (typeof found === 'function') checks.set(loaded, found);
    else if (found !== undefined) findings.push(found);
  }
  for (const scope of scopes) {
    const hooks = findResource(scope, 'Extension', HOOKS_EXTENSION)?.loaded;
    const budget = findResource(scope, 'Extension', BUDGET_EXTENSION)?.loaded;
    const approval = findResource(scope, 'Extension', APPROVAL_EXTENSION)?.loaded;
    for (const use of listUses(scope)) {
      const check = await checks.get(use.used)?.();
      if (check !== undefined) findings.push(...checkUse(check, use));
      findings.push(...checkModelNames(use));
      if (use.used === hooks) findings.push(...checkHooks(use));
      if (use.used === budget) findings.push(...checkBudgets(use));
      if (use.used === approval) findings.push(...checkRules(use));
    }
  }
  return findings;
}

/**
 * A resource (`user`) that uses another resource (`used`). Its config is merged over the used resource's own config.
 */
interface Use {
  readonly user: LoadedResourceOf<'Agent' | 'Swarm' | 'Connection'>;
  /** Returns the path in the user's document of a value of the config. */
  readonly pathOf: (inConfig: Path) => Path;
  readonly config: JsonObject;
  readonly used: LoadedResourceOf<keyof typeof configErrors>;
  /** The agents that the used resource is a part of. */
  readonly agents: readonly FoundResource<'Agent'>[];
}

function* listUses(scope: Scope): Generator<Use> {
  for (const agent of resourcesOf(scope, 'Agent')) {
    for (const { item, pathOf } of listExtensions(scope, agent)) {
      const used = findResource(scope, 'Extension', referenceOf(item))?.loaded;
      if (used !== undefined)
        yield { user: agent, pathOf, config: configOf(item), used, agents: [{ scope, loaded: agent }] };
    }
    yield* usesOf(scope, agent, 'tools', [{ scope, loaded: agent }], agent.resource.spec.tools);
  }
  for (const swarm of resourcesOf(scope, 'Swarm')) {
    const agents = swarm.resource.spec.agents.flatMap((item) => findResource(scope, 'Agent', referenceOf(item)) ?? []);
    yield* usesOf(scope, swarm, 'extensions', agents, swarm.resource.spec.extensions);
  }
  for (const connection of resourcesOf(scope, 'Connection')) {
    const { connectorRef, config = {} } = connection.resource.spec;
    const used = findResource(scope, 'Connector', connectorRef)?.loaded;
    const pathOf = (path: Path) => ['spec', 'config', ...path];
    if (used !== undefined) yield { user: connection, pathOf, config, used, agents: [] };
  }
}

function* usesOf(
  scope: Scope,
  user: Use['user'],
  field: 'extensions' | 'tools',
  agents: Use['agents'],
  items: readonly ListItem[] = [],
): Generator<Use> {
  for (const [index, item] of items.entries()) {
    const used = findResource(scope, field === 'tools' ? 'Tool' : 'Extension', referenceOf(item))?.loaded;
    const pathOf = (path: Path) => ['spec', field, index, 'config', ...path];
    if (used !== undefined) yield { user, pathOf, config: configOf(item), used, agents };
  }
}

function checkUse(check: SchemaCheck, use: Use): Finding[] {
  const { used, user, config } = use;
  const merged = mergeConfig(ownConfig(use), config);
  return findConfigProblems(check, merged).map((problem) => {
    const message = describeConfigProblem(problem, merged, used.resource.spec.configSchema);
    return errorAt(
      placeOf(use, problem.path),
      configErrors[used.kind],
      describeProblem(use, problem.path, message),
      undefined,
      user.identity,
    );
  });
}

/** Checks that the agents of a part have the models that its config names. */
function checkModelNames(use: Use): Finding[] {
  const { used, user, config, agents } = use;
  const { configSchema } = used.resource.spec;
  const loaded = agents.map((agent) => agent.loaded);
  const problems = findModelProblems(configSchema, mergeConfig(ownConfig(use), config), loaded);
  return [...problems].map(({ keys, message, suggestion }) =>
    errorAt(
      placeOf(use, keys),
      'E_REF_MISSING',
      `The config of ${used.identity}: ${message}`,
      suggestion,
      user.identity,
    ),
  );
}

/** Checks the parts of budgets that no schema can check, and the models that they count. */
function checkBudgets(use: Use): Finding[] {
  const { used, user, config, agents } = use;
  const problems = findBudgetProblems(mergeConfig(ownConfig(use), config), used.identity, agents);
  return [...problems].map(({ code, keys, message, suggestion }) =>
    errorAt(placeOf(use, keys), code, message, suggestion, user.identity),
  );
}

/** Checks the patterns of rules. Values that do not fit the schema are skipped. */
function* checkRules(use: Use): Generator<Finding> {
  const { used, user, config } = use;
  const { rules } = mergeConfig(ownConfig(use), config);
  for (const [index, rule] of (Array.isArray(rules) ? rules : []).entries()) {
    const { when } = isPlainObject(rule) ? rule : {};
    for (const [path, pattern] of isPlainObject(when) ? Object.entries(when) : []) {
      const problem = findPatternProblem(pattern);
      if (problem === undefined) continue;
      const message = `The config of ${used.identity} does not fit: rules[${index}]: ${problem.message}.`;
      const place = placeOf(use, ['rules', String(index), 'when', path]);
      yield errorAt(place, configErrors.Extension, message, problem.suggestion, user.identity);
    }
  }
}

/** Checks the parts of hooks that no schema can check. */
function checkHooks({ user, config, pathOf }: Use): Finding[] {
  return [...findHookProblems(config.hooks, user.folder)].map(({ severity, code, path, message, suggestion }) => {
    const written = pathOf(['hooks', ...path]);
    const report = severity === 'error' ? errorIn : warningIn;
    return report(user, written, code, `${pathText(written)} ${message}`, suggestion);
  });
}

function describeProblem({ used, config, pathOf }: Use, keys: readonly string[], message: string): string {
  if (used.kind === 'Connector') return `The config does not fit ${used.identity}: ${message}.`;
  const path = pathOf(toPath(config, keys));
  // A hook is not written in a config, so the message names its field instead.
  if (path[1] === 'hooks') return `${message.replace(keys.join('.'), pathText(path))}.`;
  return `The config of ${used.identity} does not fit: ${message}.`;
}

/** Returns the place where the effective value is written: in the resource `user`, or in the resource `used`. */
function placeOf(use: Use, keys: readonly string[]): CodePlace {
  const own = ownConfig(use);
  if (valueAt(use.config, keys) === undefined && keys.length > 0 && valueAt(own, keys) !== undefined) {
    return use.used.document.placeOf(['spec', 'config', ...toPath(own, keys)]);
  }
  return use.user.document.placeOf(use.pathOf(toPath(use.config, keys)));
}

function ownConfig({ used: { resource } }: Use): JsonObject {
  return resource.kind === 'Connector' ? {} : (resource.spec.config ?? {});
}

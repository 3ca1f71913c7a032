/**
 * Checks the fields of an Agent: its lists of tools and extensions, its models, its environment and its working folder.
 */
import { resolve } from 'node:path';
import { showJson } from '../../../json/show-json.ts';
import { meansAgentTools } from '../agent-tools.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import { isFolder } from '../files/find-package.ts';
import { agentsOf, findResource, resourcesOf } from '../find-resource.ts';
import { modelsOf } from '../list-models.ts';
import { configOf, listedAs, type ListItem, newNameOf, parseReference, referenceOf } from '../references.ts';
import { closestName, suggestName } from '../../closest-name.ts';
import { foldCase, resourceNamePattern } from '../../resource-name.ts';
import { findVariableProblem } from '../../variable-name.ts';

export function* checkAgents(scope: Scope): Generator<Finding> {
  for (const loaded of resourcesOf(scope, 'Agent')) {
    const { tools, extensions, mayAsk, environment, workdir } = loaded.resource.spec;
    yield* checkListedOnce(loaded, 'tools', tools);
    yield* checkListedOnce(loaded, 'extensions', extensions);
    yield* checkListedOnce(loaded, 'mayAsk', mayAsk);
    yield* checkMayAsk(scope, loaded);
    yield* checkAgentTools(scope, loaded);
    yield* checkNewNames(loaded, extensions);
    yield* checkModelNames(loaded);
    yield* checkEnvironment(loaded, environment);
    yield* checkIsolation(scope, loaded);
    if (workdir === undefined || isFolder(resolve(loaded.folder, workdir))) continue;
    const message = `spec.workdir: there is no folder "${workdir}".`;
    const suggestion = 'Create the folder, or name another; the path is relative to the folder of the bundle.';
    yield errorIn(loaded, ['spec', 'workdir'], 'E_RESOURCE_INVALID', message, suggestion);
  }
}

/**
 * Checks `maxInstances`, which only shared processes have, and the parts of an agent whose conversations share a
 * process: an exclusive part cannot be loaded by two conversations at once.
 */
function* checkIsolation(scope: Scope, loaded: LoadedResourceOf<'Agent'>): Generator<Finding> {
  const { isolation, maxInstances, tools = [], extensions = [] } = loaded.resource.spec;
  if (isolation !== 'agent') {
    if (maxInstances === undefined) return;
    const message =
      'spec.maxInstances limits the conversations of a shared process, but every conversation has its own.';
    const suggestion = 'Add `isolation: agent` to share processes, or remove `maxInstances`.';
    return yield errorIn(loaded, ['spec', 'maxInstances'], 'E_RESOURCE_INVALID', message, suggestion);
  }
  for (const [field, kind, items] of [
    ['tools', 'Tool', tools],
    ['extensions', 'Extension', extensions],
  ] as const) {
    for (const [index, item] of items.entries()) {
      const found = findResource(scope, kind, referenceOf(item))?.loaded;
      if (found?.resource.spec.exclusive !== true) continue;
      const message = `spec.isolation: ${found.identity} is exclusive, so conversations cannot share a process.`;
      const suggestion = 'Use `isolation: instance`, or remove `exclusive` if two copies can run in one process.';
      yield errorIn(loaded, ['spec', field, index], 'E_RESOURCE_INVALID', message, suggestion);
    }
  }
}

/**
 * Rejects a name that is listed twice, even from different packages, because the two parts would share a state, or hide
 * each other's tools. Two names that differ in case only are rejected, too.
 */
export function* checkListedOnce(
  loaded: LoadedResourceOf<'Agent' | 'Swarm'>,
  field: string,
  items: readonly ListItem[] = [],
): Generator<Finding> {
  const seen = new Map<string, string>();
  for (const [index, item] of items.entries()) {
    const name = listedAs(item);
    if (name === undefined) continue;
    const earlier = seen.get(foldCase(name));
    if (earlier === undefined) {
      seen.set(foldCase(name), name);
      continue;
    }
    const problem =
      earlier === name ? `${name} twice` : `${earlier} and ${name}, whose names differ in capital letters only`;
    yield errorIn(loaded, ['spec', field, index], 'E_REF_TWICE', `spec.${field} lists ${problem}.`);
  }
}

/** Checks the names that list items get with `as`. */
export function* checkNewNames(
  loaded: LoadedResourceOf<'Agent' | 'Swarm'>,
  items: readonly ListItem[] = [],
): Generator<Finding> {
  for (const [index, item] of items.entries()) {
    const name = newNameOf(item);
    if (name === undefined || resourceNamePattern.test(name)) continue;
    const message = `${showJson(name)} is not a name for an extension.`;
    yield errorIn(loaded, ['spec', 'extensions', index, 'as'], 'E_RESOURCE_NAME', message);
  }
}

/** Rejects a config for `Tool/agents`. This tool has no settings and would silently ignore the config. */
function* checkAgentTools(scope: Scope, loaded: LoadedResourceOf<'Agent'>): Generator<Finding> {
  for (const [index, item] of (loaded.resource.spec.tools ?? []).entries()) {
    if (!meansAgentTools(scope, referenceOf(item)) || Object.keys(configOf(item)).length === 0) continue;
    const path = ['spec', 'tools', index, 'config'];
    yield errorIn(loaded, path, 'E_TOOL_CONFIG', 'Tool/agents has no config.', 'Leave `config` out.', 'key');
  }
}

/** Rejects an agent in `mayAsk` that is in no swarm together with this agent, because it could never be called. */
function* checkMayAsk(scope: Scope, loaded: LoadedResourceOf<'Agent'>): Generator<Finding> {
  const swarms = resourcesOf(scope, 'Swarm')
    .map((swarm) => agentsOf(scope, swarm))
    .filter((agents) => agents.includes(loaded));
  // An agent outside of all swarms never runs, or runs in a swarm of another bundle.
  if (swarms.length === 0) return;
  const together = new Set(swarms.flat());
  for (const [index, written] of (loaded.resource.spec.mayAsk ?? []).entries()) {
    const asked = findResource(scope, 'Agent', written)?.loaded;
    if (asked === undefined || together.has(asked)) continue;
    const known = [...together].map(({ identity }) => identity);
    const message = `spec.mayAsk: ${asked.identity} is in no swarm together with ${loaded.identity}.`;
    const suggestion = suggestName(closestName(asked.identity, known), known);
    yield errorIn(loaded, ['spec', 'mayAsk', index], 'E_REF_MISSING', message, suggestion);
  }
}

/**
 * Rejects two models of the same name, one from this bundle and one from a package, because an agent finds its models
 * by name only.
 */
function* checkModelNames(loaded: LoadedResourceOf<'Agent'>): Generator<Finding> {
  const homes = new Map<string, string | undefined>();
  for (const { written, path } of modelsOf(loaded)) {
    const { name, package: home } = parseReference(written) ?? {};
    if (name === undefined) continue;
    if (homes.has(name) && homes.get(name) !== home) {
      yield errorIn(loaded, path, 'E_REF_TWICE', `spec.modelConfig names two different Model/${name}.`);
    }
    homes.set(name, home);
  }
}

/** Rejects environment variables that only the runtime may set. */
export function* checkEnvironment(
  loaded: LoadedResourceOf<'Agent' | 'Connection'>,
  environment: Readonly<Record<string, unknown>> = {},
): Generator<Finding> {
  for (const name of Object.keys(environment)) {
    const problem = findVariableProblem(name);
    if (problem === undefined) continue;
    const message = `spec.environment: ${problem}.`;
    yield errorIn(loaded, ['spec', 'environment', name], 'E_RESOURCE_INVALID', message, 'Use another name.', 'key');
  }
}

/**
 * Checks a Swarm: each agent is listed once, the entry agent is one of them, no extension is also listed by one of its
 * agents, and the globs of its policy are well-formed. Warns of an agent that can change no file, although it has the tool
 * for it.
 */
import { listNames } from '../../closest-name.ts';
import { findGlobProblem } from '../../find-glob-problem.ts';
import { foldCase } from '../../resource-name.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { BASE_LIBRARY } from '../base-library.ts';
import { errorIn, type Finding, warningIn } from '../bundle-problem.ts';
import { agentsOf, findResource, mayDeclare, resourcesOf } from '../find-resource.ts';
import { listedAs, referenceOf } from '../references.ts';
import { declaredSwarms } from '../swarm-of.ts';
import { checkListedOnce, checkNewNames } from './check-agents.ts';

export function* checkSwarms(scope: Scope): Generator<Finding> {
  yield* checkHasSwarm(scope);
  for (const loaded of resourcesOf(scope, 'Swarm')) {
    const { agents, extensions } = loaded.resource.spec;
    yield* checkListedOnce(loaded, 'agents', agents);
    yield* checkListedOnce(loaded, 'extensions', extensions);
    yield* checkNewNames(loaded, extensions);
    yield* checkEntryAgent(scope, loaded);
    yield* checkTiers(scope, loaded);
    yield* checkGlobs(loaded);
    yield* checkChanges(scope, loaded);
  }
}

/** A lone agent is a swarm of its own. The agents of a package may be for the swarms of others. */
function* checkHasSwarm(scope: Scope): Generator<Finding> {
  const [first, second, ...others] = resourcesOf(scope, 'Agent');
  const isPackage = scope.package !== undefined || resourcesOf(scope, 'Package').length > 0;
  if (first === undefined || second === undefined || isPackage || mayDeclare(scope, 'Swarm')) return;
  if (declaredSwarms(scope).length > 0) return;
  const agents = listNames([first, second, ...others].map(({ identity }) => identity));
  const message = `The bundle has several agents (${agents}) and no Swarm, so it is unknown which one gets the input.`;
  yield errorIn(second, ['metadata', 'name'], 'E_SWARM_UNKNOWN', message, suggestSwarm(first.name, agents));
}

/** Writes the Swarm that a bundle lacks. With the name of its first agent, the conversations of that agent stay. */
function suggestSwarm(name: string, agents: string, more = ''): string {
  return `Add \`kind: Swarm\`, \`metadata: { name: ${name} }\`, \`spec: { entryAgent: Agent/${name}, agents: [${agents}]${more} }\`.`;
}

function* checkEntryAgent(scope: Scope, loaded: LoadedResourceOf<'Swarm'>): Generator<Finding> {
  const entry = findResource(scope, 'Agent', loaded.resource.spec.entryAgent);
  if (entry === undefined || agentsOf(scope, loaded).includes(entry.loaded)) return;
  const message = `The entry agent ${entry.loaded.identity} is not in spec.agents.`;
  const suggestion = 'Add it to spec.agents, or name an agent of that list.';
  yield errorIn(loaded, ['spec', 'entryAgent'], 'E_REF_MISSING', message, suggestion);
}

/** Rejects an extension that the swarm and one of its agents both list, because both uses would share one state. */
function* checkTiers(scope: Scope, loaded: LoadedResourceOf<'Swarm'>): Generator<Finding> {
  const { agents, extensions = [] } = loaded.resource.spec;
  for (const [index, item] of extensions.entries()) {
    const name = listedAs(item);
    if (name === undefined) continue;
    for (const agent of agents) {
      const found = findResource(scope, 'Agent', referenceOf(agent))?.loaded;
      const names = (found?.resource.spec.extensions ?? []).map((own) => listedAs(own) ?? '');
      const own = names.find((each) => foldCase(each) === foldCase(name));
      if (found === undefined || own === undefined) continue;
      const message =
        own === name
          ? `${found.identity} also lists ${name}, which the swarm already gives to all its agents.`
          : `${found.identity} lists ${own}, which differs from ${name} of the swarm in capital letters only.`;
      yield errorIn(loaded, ['spec', 'extensions', index], 'E_REF_TWICE', message);
    }
  }
}

function* checkGlobs(loaded: LoadedResourceOf<'Swarm'>): Generator<Finding> {
  for (const [index, glob] of (loaded.resource.spec.policy?.changes?.allow ?? []).entries()) {
    const problem = findGlobProblem(glob);
    if (problem === undefined) continue;
    const message = `spec.policy.changes.allow[${index}] ${problem}.`;
    const suggestion = 'Write a path relative to the bundle, such as `prompts/*.md` or `skills/**`.';
    yield errorIn(loaded, ['spec', 'policy', 'changes', 'allow', index], 'E_RESOURCE_INVALID', message, suggestion);
  }
}

function* checkChanges(scope: Scope, loaded: LoadedResourceOf<'Swarm'>): Generator<Finding> {
  const { agents, policy } = loaded.resource.spec;
  if ((policy?.changes?.allow ?? []).length > 0) return;
  for (const item of agents) {
    const agent = findResource(scope, 'Agent', referenceOf(item));
    const tools = agent?.loaded.resource.spec.tools ?? [];
    const hasTool = tools.some((tool) => {
      const found = agent && findResource(agent.scope, 'Tool', referenceOf(tool));
      return found?.scope.package === BASE_LIBRARY && found.loaded.name === 'bundle';
    });
    if (agent === undefined || !hasTool) continue;
    const message = `${agent.loaded.identity} has Tool/bundle, but spec.policy.changes of ${loaded.identity} allows no file, so it can change nothing.`;
    const more = ', policy: { changes: { allow: ["prompts/*.md"] } }';
    const suggestion = loaded.isImplied && suggestSwarm(loaded.name, agent.loaded.identity, more);
    yield warningIn(loaded, ['spec'], 'E_CHANGESET_POLICY', message, suggestion);
  }
}

/**
 * Judges the resolved plans of all swarms. This level does not depend on how a change is written: with names that hide
 * others, anchors, or references through packages.
 */
import type { DeclaredAgent } from '../../declared-agent.ts';
import type { DeclaredExtension } from '../../declared-extension.ts';
import type { DeclaredTool } from '../../declared-tool.ts';
import type { SwarmPlan } from '../../swarm-plan.ts';
import { type JudgedChange, newNames } from './judged-change.ts';
import { isEqual } from './judge-resources.ts';

export function* judgePlans(change: JudgedChange): Generator<string> {
  const { before, after } = change;
  const names = new Set([...before.plans.keys(), ...after.plans.keys()]);
  for (const name of names) {
    const [old, wanted] = [before.plans.get(name), after.plans.get(name)];
    if (old === undefined || wanted === undefined) {
      yield `Swarm/${name} is ${old === undefined ? 'added' : 'removed'}, but a changeset changes no swarm.`;
    } else yield* judgePlan(old, wanted, change);
  }
}

function* judgePlan(old: SwarmPlan, wanted: SwarmPlan, change: JudgedChange): Generator<string> {
  const { agents: oldAgents, ...oldSwarm } = old;
  const { agents, ...swarm } = wanted;
  for (const field of differentFields(oldSwarm, swarm)) yield `${field} of Swarm/${old.name} would be changed.`;
  const [before, after] = [oldAgents, agents].map((list) => list.map(({ agentName }) => agentName));
  if (!isEqual(before, after)) return yield `The agents of Swarm/${old.name} would be changed.`;
  for (const [index, agent] of agents.entries()) {
    const oldAgent = oldAgents[index];
    if (oldAgent === undefined) continue;
    yield* judgeAgent(oldAgent, agent, change);
    if (old.name !== change.swarm && !isEqual(oldAgent, agent) && !isChangedInOwnSwarm(agent, change))
      yield `Agent/${agent.agentName} of Swarm/${old.name} would be changed, but a changeset changes only agents of its own swarm.`;
  }
}

/** Returns true if the running swarm has this agent, and the agent changes there, too. */
function isChangedInOwnSwarm({ agentName }: DeclaredAgent, { swarm, before, after }: JudgedChange): boolean {
  const [old, wanted] = [before, after].map(({ plans }) =>
    plans.get(swarm)?.agents.find((agent) => agent.agentName === agentName),
  );
  return old !== undefined && !isEqual(old, wanted);
}

function* judgeAgent(old: DeclaredAgent, agent: DeclaredAgent, change: JudgedChange): Generator<string> {
  const { systemPrompt: _old, tools: oldTools = [], extensions: oldExtensions = [], ...oldFields } = old;
  const { systemPrompt: _, tools = [], extensions = [], ...fields } = agent;
  const who = `Agent/${agent.agentName}`;
  for (const field of differentFields(oldFields, fields)) yield `${field} of ${who} would be changed.`;
  yield* judgeTools(who, oldTools, tools, change);
  yield* judgeExtensions(who, oldExtensions, extensions, change);
}

function* judgeTools(
  who: string,
  before: readonly DeclaredTool[],
  after: readonly DeclaredTool[],
  change: JudgedChange,
): Generator<string> {
  for (const [index, old] of before.entries()) {
    const tool = after[index];
    const mayChangeCode = old.package === undefined && change.addedTools.includes(old.name);
    const isSame = mayChangeCode ? isEqual(withoutCode(old), tool && withoutCode(tool)) : isEqual(old, tool);
    // The tools after it are moved as well.
    if (!isSame) return yield `Tool/${old.name} of ${who} would be changed, removed or moved.`;
  }
  const permitted = [...newNames(change, 'Tool'), ...change.addedTools];
  for (const tool of after.slice(before.length)) {
    const isKnown = permitted.includes(tool.name) && tool.package === undefined && tool.exclusive === undefined;
    const isPlain = tool.exports.length > 0 && tool.exports.every(({ effects = 'external' }) => effects === 'external');
    if (!isKnown || !isPlain) yield `Tool/${tool.name} may not be added to ${who}.`;
  }
}

/** Leaves out the fields that follow from the code of a tool. */
function withoutCode({
  digest: _,
  files: _files,
  lazy: _lazy,
  ...tool
}: DeclaredTool): Omit<DeclaredTool, 'digest' | 'files' | 'lazy'> {
  return tool;
}

function* judgeExtensions(
  who: string,
  before: readonly DeclaredExtension[],
  after: readonly DeclaredExtension[],
  change: JudgedChange,
): Generator<string> {
  const isAdded = (extension: DeclaredExtension) => !before.some((old) => nameOf(old) === nameOf(extension));
  if (
    !isEqual(
      before,
      after.filter((extension) => !isAdded(extension)),
    )
  ) {
    yield `The extensions of ${who} would be changed, removed or moved.`;
  }
  const permitted = newNames(change, 'Extension');
  const last = after.findLastIndex((extension) => !isAdded(extension) && extension.tier !== 'hook');
  for (const [index, extension] of after.entries()) {
    if (!isAdded(extension)) continue;
    const { tier, package: from, keeper, exclusive, resource } = extension;
    const isOwn = permitted.includes(nameOf(extension)) && from === undefined;
    const isPlain =
      tier === 'innermost' && [keeper, exclusive, resource.spec.compat].every((each) => each === undefined);
    if (!isOwn || !isPlain || index < last || change.besideOld.has(who))
      yield `Extension/${nameOf(extension)} may not be added to ${who} at this place.`;
  }
}

function nameOf({ resource }: DeclaredExtension): string {
  return resource.metadata.name;
}

function differentFields(one: object, other: object): string[] {
  const [before, after] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => !isEqual(before.get(name), after.get(name)));
}

/**
 * Compares two plans and lists the changes. Parts are compared by identity and content, never by their position in a
 * list: moving an agent changes nothing. An agent is compared as a whole, with the order of its extensions, which is the
 * order of their layers; `reconcileAgent` compares its parts.
 */
import type { JsonObject } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';
import type { SwarmPlan } from './swarm-plan.ts';

/**
 * The changes, by identity: `Agent/name`, `Connection/name`, and `Swarm/name` for the swarm's own fields, which are its
 * entry agent and its policy.
 */
export interface PlanReconcile {
  readonly kept: readonly string[];
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function planReconcile(running: SwarmPlan, wanted: SwarmPlan): PlanReconcile {
  const [before, after] = [digestsOf(running), digestsOf(wanted)];
  const names = [...after.keys()];
  const wasThere = names.filter((name) => before.has(name));
  return {
    kept: wasThere.filter((name) => before.get(name) === after.get(name)),
    changed: wasThere.filter((name) => before.get(name) !== after.get(name)),
    added: names.filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
  };
}

/** Lists the changed fields of the swarm itself, such as `entryAgent` or `policy.maxKept`. */
export function changedFields(running: SwarmPlan, wanted: SwarmPlan): string[] {
  const [before, after] = [fieldsOf(running), fieldsOf(wanted)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).toSorted();
}

function fieldsOf({ entryAgent, policy = {} }: SwarmPlan): Map<string, string | undefined> {
  const settings = Object.entries(policy).map(([name, value]) => [`policy.${name}`, JSON.stringify(value)] as const);
  return new Map([['entryAgent', entryAgent], ...settings]);
}

/** Describes the changes for people, such as `changed Agent/coder; added Agent/tester; 3 kept`. */
export function describeChanges({ kept, changed, added, removed }: PlanReconcile): string {
  const lists = [
    ['changed', changed],
    ['added', added],
    ['removed', removed],
  ] as const;
  const told = lists.filter(([, names]) => names.length > 0).map(([what, names]) => `${what} ${names.join(', ')}`);
  return told.length === 0 ? 'Nothing has changed.' : `Reloaded: ${told.join('; ')}; ${kept.length} kept.`;
}

/** Returns the digests of the parts of a plan, by identity in alphabetical order. */
function digestsOf({ agents, connections = [], name, ...swarm }: SwarmPlan): Map<string, string> {
  const parts: [identity: string, part: object][] = [
    ...agents.map((agent): [string, object] => [`Agent/${agent.agentName}`, agent]),
    ...connections.map((connection): [string, object] => [`Connection/${connection.connection}`, connection]),
    [`Swarm/${name}`, swarm],
  ];
  // Safe: plans are JSON.
  const digests = parts.map(([identity, part]): [string, string] => [identity, digestJson(part as JsonObject)]);
  return new Map(digests.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

import { sep } from 'node:path';
import { defined } from '../../../json/defined.ts';
import type { DeclaredAgent } from '../../declared-agent.ts';
import type { SwarmPlan } from '../../swarm-plan.ts';

/**
 * Returns the plan that a bundle has after a changeset, from the plan of its copy below `root`. `packages`: the hash of
 * the bundle's own lock files.
 */
export function rebasePlan(plan: SwarmPlan, root: string, packages: string | undefined): SwarmPlan {
  const { agents, connections, ...swarm } = plan;
  return defined({
    ...swarm,
    agents: agents.map((agent) => rebaseAgent(agent, root, packages)),
    connections: connections?.map((connection) => rebasePart(connection, root)),
  });
}

function rebaseAgent(agent: DeclaredAgent, root: string, packages: string | undefined): DeclaredAgent {
  const { tools, extensions, bundleFolder, workdir } = agent;
  return defined({
    ...agent,
    tools: tools?.map((tool) => rebasePart(tool, root)),
    extensions: extensions?.map((extension) => rebasePart(extension, root)),
    bundleFolder: bundleFolder && rebasePath(bundleFolder, root),
    workdir: workdir && rebasePath(workdir, root),
    packages,
  });
}

function rebasePart<Part extends { readonly root: string }>(part: Part, root: string): Part {
  return { ...part, root: rebasePath(part.root, root) };
}

/** Returns the path in the bundle of a path in the copy. */
export function rebasePath(path: string, root: string): string {
  return path.startsWith(root + sep) ? path.slice(root.length) : path;
}

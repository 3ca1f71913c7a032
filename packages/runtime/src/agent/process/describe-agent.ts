import type { AgentSelf, LayerSummary } from '../../ipc/from-agent.ts';
import { middlewareKinds } from '../../ports/middleware-kinds.ts';
import type { Layer } from '../pipeline/layer.ts';
import type { RunningAgent } from '../start/start-agent.ts';

/**
 * Describes an agent: its parts, and the statuses of the things they need. `now`: the time at which its tools were
 * read.
 */
export function describeAgent(agent: RunningAgent, now: Date): AgentSelf {
  const { tools: registry, statuses } = agent.parts;
  // A tool cannot be unregistered. If an extension's status lists its tools, tools missing from the list are no longer
  // offered.
  const isGone = (name: string, extension: string) => statuses.of(extension)?.tools?.includes(name) === false;
  const tools = registry.items().flatMap(({ name }) => {
    const extension = registry.get(name)?.extension;
    return extension !== undefined && isGone(name, extension) ? [] : [{ name, extension }];
  });
  const registered = tools.flatMap(({ name, extension }) => {
    if (extension === undefined) return [];
    return [{ name, extension, seenAt: statuses.of(extension)?.timestamp ?? now.toISOString() }];
  });
  const told = statuses.all();
  const unknown = told.filter((each) => each.tools === undefined).map(({ extension }) => extension);
  return {
    extensions: agent.extensions,
    layers: middlewareKinds.flatMap((kind) => agent.layers(kind).map(summarise)),
    tools: tools.map(({ name }) => name),
    ...(registered.length > 0 && { registered }),
    ...(unknown.length > 0 && { unknown }),
    ...(told.length > 0 && { statuses: told }),
  };
}

function summarise({ run: _, timeoutMs, ...layer }: Layer): LayerSummary {
  return timeoutMs === undefined ? layer : { ...layer, timeoutMs };
}

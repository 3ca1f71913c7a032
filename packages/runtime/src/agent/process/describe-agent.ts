import type { AgentSelf, LayerSummary } from '../../ipc/from-agent.ts';
import { middlewareKinds } from '../../ports/middleware-kinds.ts';
import type { Clock } from '../../ports/clock.ts';
import { STATUS_EVENT } from '../extension/extension-statuses.ts';
import type { Layer } from '../pipeline/layer.ts';
import type { RunningAgent } from '../start/start-agent.ts';
import type { AgentChannel } from './process-host.ts';

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

function summarise({ run: _, mark: __, timeoutMs, ...layer }: Layer): LayerSummary {
  return timeoutMs === undefined ? layer : { ...layer, timeoutMs };
}

const GAP_MS = 50;

/**
 * Sends a new description of the agent when its parts have changed. Changes within `GAP_MS` are sent together, and
 * always before the end of a turn is reported. If nothing changes, nothing is sent.
 */
export function tellChanges(agent: RunningAgent, channel: AgentChannel, clock: Clock): void {
  const { bus, tools } = agent.parts;
  let known = tools.items();
  let callOff: (() => void) | undefined;
  const say = () => {
    callOff?.();
    callOff = undefined;
    known = tools.items();
    // If the channel is closed or full, the description is sent with the next change.
    channel.send({ type: 'described', ...describeAgent(agent, clock.now()) }).catch(() => undefined);
  };
  // Registering a tool publishes no event, so the tools are compared after each runtime event.
  bus.watch((event) => {
    const isTurnOver = event === 'turn.completed' || event === 'turn.failed';
    const hasChanged = event === STATUS_EVENT || tools.items() !== known;
    if (isTurnOver && (hasChanged || callOff !== undefined)) return say();
    if (hasChanged) callOff ??= clock.after(GAP_MS, say);
  });
}

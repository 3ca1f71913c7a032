/**
 * Sends a new description of the agent when its parts have changed. Changes within `GAP_MS` are sent together, and
 * always before the end of a turn is reported. If nothing changes, nothing is sent.
 */
import type { Channel } from '../../ipc/channel/channel.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import { STATUS_EVENT } from '../extension/extension-statuses.ts';
import type { RunningAgent } from '../start/start-agent.ts';
import { describeAgent } from './describe-agent.ts';

const GAP_MS = 50;

export function tellChanges(agent: RunningAgent, channel: Channel<FromAgent, ToAgent>, clock: Clock): void {
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

/**
 * Describes the agent again when its parts have changed: after `GAP_MS`, once for all changes of that time, and always
 * before the end of the turn is reported. Nothing is sent while nothing changes.
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
    // If the channel is closed or full, the next change sends it.
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

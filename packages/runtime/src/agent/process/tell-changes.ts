/**
 * Says again what the agent is made of when that has changed: soon, once for all changes of a moment, and before the end of
 * the turn is told. Nothing is said while nothing changes.
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
    // Not sent when the channel is closed or full: then the next change says it.
    channel.send({ type: 'described', ...describeAgent(agent, clock.now()) }).catch(() => undefined);
  };
  // Tools are registered without a word: after each event of the runtime they are looked at, which costs a comparison.
  bus.watch((event) => {
    const isTurnOver = event === 'turn.completed' || event === 'turn.failed';
    const hasChanged = event === STATUS_EVENT || tools.items() !== known;
    if (isTurnOver && (hasChanged || callOff !== undefined)) return say();
    if (hasChanged) callOff ??= clock.after(GAP_MS, say);
  });
}

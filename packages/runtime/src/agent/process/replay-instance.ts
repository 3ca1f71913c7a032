/**
 * Runs a replay in its own process. The conversation, the answers of other agents and the answers of people come from
 * the recording.
 */
import type { AgentStart } from '../../config/agent-start.ts';
import type { ReplayOutcome, ReplaySource } from '../../trace/replay.ts';
import { replayTurn } from '../replay/replay-turn.ts';
import type { ProcessHost } from './process-host.ts';

export function replayInstance(start: AgentStart, replay: ReplaySource, host: ProcessHost): Promise<ReplayOutcome> {
  host.moveTo(start.cwd);
  host.answerOwnPackages();
  host.watchDraws();
  const engine = { catalog: () => start.agents };
  return replayTurn({ ...start.agent, ...start.address }, replay, { clock: host.clock, engine });
}

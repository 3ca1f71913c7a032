import { GoondanError } from '@goondan/types';
import { aboutThrown } from '../../log/about-thrown.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import type { TurnBounds, TurnIdentity } from '../turn-state/running-turn.ts';

/**
 * Logs a tool call whose handler, or a layer around it, threw. The model gets only the error's message. If the error
 * has a code and bundle code did not throw it, it is an expected answer, such as a rejection, and is logged as info.
 */
export function logFailedCall(
  { agent, signal }: TurnIdentity & TurnBounds,
  { toolName }: { readonly toolName: string },
  thrown: unknown,
  { fallbackCode, extension }: { readonly fallbackCode: string; readonly extension: string | undefined },
): void {
  // When a turn is cancelled its tools are aborted, and their errors are not failures.
  if (signal.aborted) return;
  const { code = null, message } = toTurnError(thrown, fallbackCode);
  const origin = agent.locate(thrown);
  const isAnswer = GoondanError.is(thrown) && origin.place === undefined;
  agent.log(isAnswer ? 'info' : 'warn', `Tool "${toolName}" failed: ${message}`, {
    event: 'tool.failed',
    ...(extension === undefined ? {} : { extension }),
    ...aboutThrown(origin, { code }),
  });
}

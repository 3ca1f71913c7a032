/** The running handler of a tool call, and its waits for people. */
import { GoondanError } from '@goondan/types';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import type { BoundedRun } from '../with-deadline.ts';
import type { RunningToolCall } from './running-tool-call.ts';

export interface HandlerRun {
  readonly call: RunningToolCall;
  /** True if the handler may run again, so that its process may leave the turn while a person is asked. */
  readonly mayRepeat: boolean;
  readonly bounds: BoundedRun;
}

/**
 * Waits for a person. If the handler may run again, the process may leave the turn meanwhile, and the next process asks
 * again. Otherwise the call ends when its process is asked to end.
 */
export function waitInHandler<Value>(
  { agent: { activity } }: RunningTurn,
  { call, mayRepeat, bounds }: HandlerRun,
  wait: () => Promise<Value>,
): Promise<Value> {
  if (mayRepeat) return activity.aside(bounds, () => activity.question(wait));
  return activity.endable(wait, () => {
    call.stopped ??= stoppedError(call.toolName);
    bounds.giveUp(call.stopped);
  });
}

/**
 * Waits until the process leaves the turn; the next process continues with the recorded result of the ended call. Rejects if
 * the turn is cancelled first.
 */
export async function waitForNextProcess({ agent, clock, signal, onAbort }: RunningTurn): Promise<never> {
  signal.throwIfAborted();
  clock.pause();
  const { promise, reject } = Promise.withResolvers<never>();
  const forget = onAbort(reject);
  try {
    return await agent.activity.question(() => promise);
  } finally {
    forget();
    clock.resume();
  }
}

function stoppedError(toolName: string): GoondanError {
  return new GoondanError(
    'E_INTERRUPTED',
    `The agent was stopped while this call of "${toolName}" waited for a person, so the call was ended before anybody answered.`,
    {
      suggestion:
        'The question is withdrawn. Call again if the answer is still needed; what the call did before it asked is not undone.',
    },
  );
}

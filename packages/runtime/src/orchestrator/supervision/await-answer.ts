/** A process that is started for one answer, and ended afterwards: an agent alone, a connection on trial. */
import { GoondanError } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import type { ConnectorStart } from '../../config/connector-start.ts';
import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';
import type { ChildProcess } from '../../ipc/spawn.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Pong, type RunningProcess, superviseProcess, type Upkeep } from './supervise-process.ts';

export interface AnswerBounds {
  /** The process in errors: `agent coder`. */
  readonly name: string;
  readonly clock: Clock;
  readonly heartbeat: HeartbeatPolicy;
  readonly timeoutMs: number;
  /** Ends the wait early, `E_CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
  readonly mask: Mask;
}

/**
 * Resolves with the first value that `hear` makes of a message, and rejects with what `hear` throws. The process lives on:
 * the caller ends it.
 *
 * **Errors** — `E_PROCESS_START` (also when no answer came in time), `E_CANCELLED`.
 */
export async function awaitAnswer<Value, Down extends { readonly type: string }, Up extends { readonly type: string }>(
  child: ChildProcess<Down | Upkeep, Up | Pong>,
  start: AgentStart | ConnectorStart,
  { name, clock, heartbeat, timeoutMs, signal, mask }: AnswerBounds,
  hear: (message: Up, process: RunningProcess<Down>) => Value | Promise<Value> | undefined,
): Promise<Value> {
  const answer = Promise.withResolvers<Value>();
  let isHeard = false;
  const fail = (problem: string) => {
    // The end of the process does not matter once its answer is there.
    if (isHeard) return;
    answer.reject(new GoondanError('E_PROCESS_START', mask(`The process of ${name} ${problem}.`)));
  };
  const cancel = () => answer.reject(new GoondanError('E_CANCELLED', `The process of ${name} was ended early.`));
  const callOff = clock.after(timeoutMs, () => fail(`was not ready within ${timeoutMs} ms`));
  const process = superviseProcess<Down, Up>(
    child,
    start,
    { heartbeat: () => heartbeat, clock },
    {
      message(message) {
        try {
          const value = hear(message, process);
          if (value === undefined) return;
          isHeard = true;
          // A cancel still counts while the value is on its way.
          void Promise.resolve(value).then(answer.resolve, answer.reject);
        } catch (error) {
          answer.reject(error);
        }
      },
      refused: (problem) => fail(`sent a rejected message: ${problem}`),
      hung: () => fail('does not answer'),
      exited: ({ code, signal: ending }) => fail(`ended before it was ready (${ending ?? code ?? 'unknown'})`),
      cutOff: () => fail('closed its channel'),
      unsent: (_type, problem) => fail(`could not be told: ${problem}`),
    },
  );
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted === true) cancel();
  try {
    return await answer.promise;
  } finally {
    callOff();
    signal?.removeEventListener('abort', cancel);
  }
}

/** Starts a process to get one answer from it: a single agent, or a connection on trial. */
import { GoondanError } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import type { ConnectorStart } from '../../config/connector-start.ts';
import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';
import type { ChildProcess } from '../../ipc/spawn.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Pong, type RunningProcess, superviseProcess, type Upkeep } from './supervise-process.ts';

export interface AnswerBounds {
  /** The name of the process in errors, such as `agent coder`. */
  readonly name: string;
  readonly clock: Clock;
  readonly heartbeat: HeartbeatPolicy;
  readonly timeoutMs: number;
  /** Aborting it ends the wait early, with `E_CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
  readonly mask: Mask;
}

/**
 * Resolves with the first value that `hear` returns for a message, or rejects with the error it throws. The process
 * keeps running; the caller ends it.
 * **Errors** — `E_PROCESS_START` (also when `hear` returned nothing in time), `E_CANCELLED`. A promise that `hear` returns
 * has no time limit here.
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
    // Once the answer has arrived, the exit of the process does not matter.
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
          // Until the value is resolved, a cancel still ends the wait.
          void Promise.resolve(value).then(answer.resolve, answer.reject);
        } catch (error) {
          answer.reject(error);
        }
      },
      refused: (problem) => fail(`sent a message that was rejected: ${problem}`),
      hung: (blocked) => fail(blocked === undefined ? 'does not answer' : `does not answer: it is ${blocked}`),
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

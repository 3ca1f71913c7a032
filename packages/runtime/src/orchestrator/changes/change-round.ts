/**
 * The decisions about one change of running processes, as pure functions: which processes change in place, and whether
 * all of them are ready for the change.
 *
 * Invariants:
 * 1. The change is ready when every asked process is ready, or ended because it was asked to end.
 * 2. The first failure decides. Nothing that arrives later changes the decision.
 * 3. A process that never became ready did not load anything of the change, so its end is not a failure of the change.
 * 4. Inputs about another process than the asked one are ignored.
 */
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { Phase } from '../supervision/instance-state.ts';

/**
 * The number of changes that one process gets. Modules that were imported anew are never freed, so the process is
 * replaced between turns at the next change.
 */
export const MOST_CHANGES = 50;

/**
 * Decides how a process takes a change. `prepare`: it changes in place. `replace`: it is replaced between turns, or
 * there is no process to change. `changes`: the number of changes that it was asked to prepare so far.
 */
export function fateOf({ name }: Phase, replaces: string | undefined, changes: number): 'prepare' | 'replace' {
  if (replaces !== undefined || changes >= MOST_CHANGES) return 'replace';
  return CHANGEABLE.has(name) ? 'prepare' : 'replace';
}

const CHANGEABLE: ReadonlySet<Phase['name']> = new Set(['starting', 'ready', 'busy']);

export interface ChangeRound {
  /** The asked processes by the key of their instance. */
  readonly asked: ReadonlyMap<string, AskedProcess>;
  readonly failure?: RoundFailure;
}

interface AskedProcess {
  /** The number of the process. */
  readonly process: number;
  readonly standing: 'preparing' | 'ready' | 'left';
  /** The error that ends the process, if the process has reported one. */
  readonly reason?: CrashReason;
}

type CrashReason = Pick<FrameError, 'message' | 'place'>;

export interface RoundFailure {
  /** The key of the instance whose process failed. */
  readonly key: string;
  readonly error: FrameError;
}

export type RoundInput =
  | { readonly type: 'ready'; readonly key: string; readonly process: number }
  | { readonly type: 'failed'; readonly key: string; readonly process: number; readonly error: FrameError }
  /** The process reports an error that ends it; its exit follows. */
  | { readonly type: 'crashed'; readonly key: string; readonly process: number; readonly reason: CrashReason }
  /** The process is in another phase now. `hasExited`: it has ended in this phase. */
  | {
      readonly type: 'phase';
      readonly key: string;
      readonly process: number;
      readonly phase: Phase;
      readonly hasExited: boolean;
    }
  /** The time is over. */
  | { readonly type: 'late'; readonly timeoutMs: number };

export function openRound(processes: Iterable<readonly [key: string, process: number]>): ChangeRound {
  const asked = [...processes].map(([key, process]) => [key, { process, standing: 'preparing' }] as const);
  return { asked: new Map(asked) };
}

/** Returns the decision; `undefined` while the round waits for a process (invariants 1 and 2). */
export function decisionOf({ asked, failure }: ChangeRound): 'ready' | RoundFailure | undefined {
  if (failure !== undefined) return failure;
  return [...asked.values()].some(({ standing }) => standing === 'preparing') ? undefined : 'ready';
}

/** Handles one input. */
export function stepRound(round: ChangeRound, input: RoundInput): ChangeRound {
  if (round.failure !== undefined) return round;
  if (input.type === 'late') return failLate(round, input.timeoutMs);
  const { key, process } = input;
  const member = round.asked.get(key);
  if (member?.process !== process || member.standing === 'left') return round;
  switch (input.type) {
    case 'ready':
      return stand(round, key, { ...member, standing: 'ready' });
    case 'crashed':
      return stand(round, key, { ...member, reason: input.reason });
    case 'failed':
      return { ...round, failure: { key, error: input.error } };
    case 'phase': {
      const end = endOf(input.phase, input.hasExited);
      if (end === 'stays') return round;
      return end === 'left'
        ? stand(round, key, { ...member, standing: 'left' })
        : { ...round, failure: { key, error: describeEnd(input.phase, member.reason) } };
    }
  }
}

function stand(round: ChangeRound, key: string, member: AskedProcess): ChangeRound {
  return { ...round, asked: new Map([...round.asked, [key, member]]) };
}

/** A process that was asked to end is not waited for, although it may still run for a long time. */
function endOf(phase: Phase, hasExited: boolean): 'stays' | 'left' | 'failed' {
  switch (phase.name) {
    case 'ready':
    case 'busy':
      return hasExited ? 'failed' : 'stays';
    case 'starting':
      return hasExited ? 'left' : 'stays';
    case 'killed':
      return phase.why === 'hung' && phase.readySince !== undefined ? 'failed' : 'left';
    default:
      return 'left';
  }
}

function describeEnd({ name }: Phase, reason: CrashReason | undefined): FrameError {
  const end = name === 'killed' ? 'did not answer, and was killed,' : 'ended';
  const message = `The process ${end} while it prepared the change.`;
  const { place } = reason ?? {};
  return {
    code: 'E_PROCESS_START',
    message: reason === undefined ? message : `${message} ${reason.message}`,
    ...(place === undefined ? {} : { place }),
  };
}

function failLate(round: ChangeRound, timeoutMs: number): ChangeRound {
  const late = [...round.asked].find(([, { standing }]) => standing === 'preparing');
  if (late === undefined) return round;
  const message = `The process was not ready for the change within ${timeoutMs} ms.`;
  return { ...round, failure: { key: late[0], error: { code: 'E_PROCESS_START', message } } };
}

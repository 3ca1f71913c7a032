/**
 * Detects that the workspace of this orchestrator was removed, moved or replaced. It checks every 15 s, and before and
 * after each write to an inbox. Once lost, the workspace stays lost, even if its folder comes back.
 */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import { workspaceLockPath } from '../layout/instance-paths.ts';
import type { WorkspaceOwner } from './own-workspace.ts';

export interface Ownership {
  readonly isLost: boolean;
  /** Throws `E_FENCED` once the workspace is lost. */
  readonly fence: () => void;
  /** Calls `listener` once, when the workspace is lost, or at once if it is already lost. */
  onLost(listener: (error: GoondanError) => void): void;
  /** Stops the periodic checks. */
  end(): void;
}

export const LOOK_MS = 15_000;

export function watchOwnership(owner: Pick<WorkspaceOwner, 'isLost'>, folder: string, clock: Clock): Ownership {
  let error: GoondanError | undefined;
  let tell: (error: GoondanError) => void = () => undefined;
  let callOff = clock.after(LOOK_MS, refetch);

  function look(): GoondanError | undefined {
    if (error !== undefined || !owner.isLost()) return error;
    callOff();
    const lock = workspaceLockPath(folder);
    error = new GoondanError(
      'E_FENCED',
      `${lock} was removed or replaced, alone or with its folder, while this swarm ran.`,
      {
        suggestion:
          'Start the swarm again. Never remove `workspace.lock`, and stop a swarm before its folder is removed or moved.',
      },
    );
    tell(error);
    return error;
  }

  function refetch(): void {
    if (look() === undefined) callOff = clock.after(LOOK_MS, refetch);
  }

  return {
    get isLost() {
      return look() !== undefined;
    },
    fence() {
      const lost = look();
      if (lost !== undefined) throw lost;
    },
    onLost(listener) {
      tell = listener;
      if (error !== undefined) listener(error);
    },
    end: () => callOff(),
  };
}

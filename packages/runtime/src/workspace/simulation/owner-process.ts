/**
 * The program of a child process. It takes a workspace on request, and owns the workspace until it is told to release
 * it, or dies.
 */
import { GoondanError } from '@goondan/types';
import { ownWorkspace, type WorkspaceOwner } from '../swarms/own-workspace.ts';

export type OwnerOrder =
  /**
   * Takes the workspace at the time `at`, in milliseconds since 1970, so that several processes try at the same moment.
   */
  | { readonly do: 'own'; readonly stateRoot: string; readonly runTag: string; readonly at: number }
  | { readonly do: 'release' }
  /** Starts a child that outlives this process. */
  | { readonly do: 'spawn' };

export interface OwnerAnswer {
  readonly owner?: Pick<WorkspaceOwner, 'broken'>;
  readonly child?: number;
  readonly refusal?: { readonly code: string; readonly message: string };
}

let owner: WorkspaceOwner | undefined;

process.on('message', (order: OwnerOrder) => void obey(order).then((answer) => process.send?.(answer)));
// The test process has exited, so this process exits too.
process.on('disconnect', () => process.exit());
process.send?.({});

async function obey(order: OwnerOrder): Promise<OwnerAnswer> {
  if (order.do === 'release') {
    await owner?.release();
    return {};
  }
  if (order.do === 'spawn') {
    const child = Bun.spawn(['sleep', '60'], { stdio: ['ignore', 'ignore', 'ignore'], detached: true });
    child.unref();
    return { child: child.pid };
  }
  while (Date.now() < order.at);
  try {
    const place = { stateRoot: order.stateRoot, workspaceId: 'w' };
    owner = await ownWorkspace(place, { swarm: 'shop', runTag: order.runTag });
    return { owner: { broken: owner.broken } };
  } catch (error) {
    if (!(error instanceof GoondanError)) throw error;
    return { refusal: { code: error.code, message: error.message } };
  }
}

/**
 * Finds a swarm by its bundle folder and, if several ran from that folder, by its name. Uses the stored records, so
 * that a swarm can be reached even if its bundle is now broken. Reads the bundle for a swarm that never ran, and to
 * leave out names that the bundle no longer declares; the code that reads a bundle is loaded only then.
 */
import { type KnownSwarm, openSwarmList } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { attachSwarm } from './attach-swarm.ts';
import type { FoundWorkspace } from './find-workspace.ts';

/** A swarm that does not answer within this time does not count as running. */
const PATIENCE_MS = 2_000;

export interface WantedSwarm {
  readonly stateRoot: string;
  /** The bundle folder, which may no longer exist. */
  readonly folder: string;
  /** The value of `--swarm`. */
  readonly swarm: string | undefined;
}

/**
 * **Errors** — `E_SWARM_UNKNOWN` when no swarm with that name ran from the folder, or when several ran and no name was
 * given; for a folder from which no swarm ran: `E_BUNDLE_MISSING`, `E_BUNDLE_INVALID`.
 */
export async function findSwarm(wanted: WantedSwarm): Promise<FoundWorkspace> {
  const { stateRoot, folder } = wanted;
  const name = wanted.swarm?.replace(/^Swarm\//, '');
  const known = await openSwarmList({ stateRoot }).ofFolder(folder);
  const fitting = known.filter(({ swarm }) => name === undefined || swarm === name);
  if (fitting.length === 0) return findInBundle(wanted, known);
  const meant = namesOf(fitting).length === 1 ? fitting : await onlyDeclared(fitting, folder);
  const [latest, another] = meant;
  if (latest === undefined || namesOf(meant).length > 1) throw await severalRan(fitting, wanted);
  if (another === undefined) return latest;
  // If a swarm was moved to another workspace while it ran, it may still run in the old workspace.
  const [running] = await onlyRunning(meant, stateRoot);
  return running ?? latest;
}

async function findInBundle({ folder, swarm }: WantedSwarm, known: readonly KnownSwarm[]): Promise<FoundWorkspace> {
  const { findWorkspaceIn } = await import('./find-workspace.ts');
  try {
    const { swarm: found, workspaceId } = await findWorkspaceIn(folder, swarm);
    return { swarm: found, workspaceId };
  } catch (error) {
    const isUnreadable = GoondanError.is(error) && ['E_BUNDLE_INVALID', 'E_BUNDLE_MISSING'].includes(error.code);
    if (!isUnreadable || known.length === 0) throw error;
    const message = `No swarm "${swarm ?? ''}" has run from "${folder}"; these have: ${namesOf(known).join(', ')}.`;
    throw new GoondanError('E_SWARM_UNKNOWN', message, { cause: error });
  }
}

/**
 * Leaves out the old name of a renamed swarm. If the bundle is invalid, keeps all names, because any of them may be
 * meant.
 */
async function onlyDeclared(known: readonly KnownSwarm[], folder: string): Promise<readonly KnownSwarm[]> {
  const { readBundle } = await import('../bundle/open-bundle.ts');
  const bundle = await readBundle(folder).catch(() => undefined);
  if (bundle?.valid !== true) return known;
  const names = bundle.scope.resources.filter(({ kind }) => kind === 'Swarm').map(({ name }) => name);
  return known.filter(({ swarm }) => names.includes(swarm));
}

async function onlyRunning(known: readonly KnownSwarm[], stateRoot: string): Promise<KnownSwarm[]> {
  const attached = await Promise.all(
    known.map(({ workspaceId }) =>
      attachSwarm({ stateRoot, workspaceId }, { silenceMs: PATIENCE_MS }).catch(() => undefined),
    ),
  );
  return known.filter((_, index) => attached[index] !== undefined);
}

async function severalRan(known: readonly KnownSwarm[], { folder, stateRoot }: WantedSwarm): Promise<GoondanError> {
  const running = namesOf(await onlyRunning(known, stateRoot));
  const names = namesOf(known);
  const listed = names.map((name) => (running.includes(name) ? `${name} (running)` : name)).join(', ');
  const suggestion = `Name one of them, as in \`--swarm ${running[0] ?? names[0] ?? ''}\`.`;
  return new GoondanError('E_SWARM_UNKNOWN', `Several swarms ran from "${folder}": ${listed}.`, { suggestion });
}

function namesOf(known: readonly KnownSwarm[]): string[] {
  return [...new Set(known.map(({ swarm }) => swarm))];
}

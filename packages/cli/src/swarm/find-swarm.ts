/**
 * Finds a swarm by the folder of its bundle and, when several ran from it, by its name. It uses the stored records, so
 * that a swarm can be reached even when its bundle is broken by now. The bundle is read for a swarm that never ran, and
 * to leave out names that it no longer declares.
 */
import { type KnownSwarm, listKnownSwarms } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { readBundle } from '../bundle/open-bundle.ts';
import { attachSwarm } from './attach-swarm.ts';
import { findWorkspaceIn, type FoundWorkspace } from './find-workspace.ts';

/** A swarm that does not answer for this long does not count as running. */
const PATIENCE_MS = 2_000;

export interface WantedSwarm {
  readonly stateRoot: string;
  /** The folder may no longer exist. */
  readonly folder: string;
  /** `--swarm`. */
  readonly swarm: string | undefined;
}

/**
 * **Errors** — `E_SWARM_UNKNOWN` when none of that name ran from the folder, or several did and none was named; for a
 * folder from which nothing ran: `E_BUNDLE_MISSING`, `E_BUNDLE_INVALID`.
 */
export async function findSwarm(wanted: WantedSwarm): Promise<FoundWorkspace> {
  const { stateRoot, folder } = wanted;
  const name = wanted.swarm?.replace(/^Swarm\//, '');
  const known = listKnownSwarms(stateRoot, folder);
  const fitting = known.filter(({ swarm }) => name === undefined || swarm === name);
  if (fitting.length === 0) return findInBundle(wanted, known);
  const meant = namesOf(fitting).length === 1 ? fitting : await onlyDeclared(fitting, folder);
  const [latest, another] = meant;
  if (latest === undefined || namesOf(meant).length > 1) throw await severalRan(fitting, wanted);
  if (another === undefined) return latest;
  // A swarm that was moved to another workspace while it ran may still run in the old one.
  const [running] = await onlyRunning(meant, stateRoot);
  return running ?? latest;
}

async function findInBundle({ folder, swarm }: WantedSwarm, known: readonly KnownSwarm[]): Promise<FoundWorkspace> {
  try {
    return await findWorkspaceIn(folder, swarm);
  } catch (error) {
    const isUnreadable = GoondanError.is(error) && ['E_BUNDLE_INVALID', 'E_BUNDLE_MISSING'].includes(error.code);
    if (!isUnreadable || known.length === 0) throw error;
    const message = `No swarm "${swarm ?? ''}" has run from "${folder}"; these have: ${namesOf(known).join(', ')}.`;
    throw new GoondanError('E_SWARM_UNKNOWN', message, { cause: error });
  }
}

/** Leaves out the old name of a renamed swarm. Keeps all while the bundle is invalid: any may be meant. */
async function onlyDeclared(known: readonly KnownSwarm[], folder: string): Promise<readonly KnownSwarm[]> {
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
  const suggestion = `Say which one is meant, as in \`--swarm ${running[0] ?? names[0] ?? ''}\`.`;
  return new GoondanError('E_SWARM_UNKNOWN', `Several swarms ran from "${folder}": ${listed}.`, { suggestion });
}

function namesOf(known: readonly KnownSwarm[]): string[] {
  return [...new Set(known.map(({ swarm }) => swarm))];
}

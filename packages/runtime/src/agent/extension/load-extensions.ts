/** Loads all extensions of an agent in the order of their declaration: swarm-wide extensions first. */
import type { Clock } from '../../ports/clock.ts';
import type { ExtensionDeps } from './extension-api.ts';
import { type ExtensionDeclaration, loadExtension } from './load-extension.ts';
import { type ReportCleanup, runCleanups } from './run-cleanups.ts';

export async function loadExtensions(
  declarations: readonly ExtensionDeclaration[],
  deps: ExtensionDeps,
  clock: Clock,
  report: ReportCleanup,
) {
  const loaded: Awaited<ReturnType<typeof loadExtension>>[] = [];

  /** Runs every cleanup, last loaded first, within `graceMs` in total. Never throws; problems go to `report`. */
  const cleanUp = (graceMs: number) => runCleanups(loaded.splice(0).toReversed(), graceMs, clock, report);

  try {
    // Extensions are loaded one after the other: the next one starts when the previous `register` has settled.
    for (const declaration of declarations) loaded.push(await loadExtension(declaration, deps));
  } catch (error) {
    await cleanUp(5_000);
    throw error;
  }
  return { names: loaded.map(({ name }) => name), cleanUp };
}

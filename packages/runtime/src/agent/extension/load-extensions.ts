/** Loads all extensions of an agent in the order of their declaration: swarm-wide extensions first. */
import type { Clock } from '../../ports/clock.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import type { ExtensionDeps } from './extension-api.ts';
import { type ExtensionDeclaration, loadExtension } from './load-extension.ts';

/**
 * Loads the extensions. `report`: called for a cleanup that failed or did not finish in time; `thrown` is the error of
 * a failed cleanup.
 */
export async function loadExtensions(
  declarations: readonly ExtensionDeclaration[],
  deps: ExtensionDeps,
  clock: Clock,
  report: (message: string, extension: string, thrown?: unknown) => void,
) {
  const loaded: Awaited<ReturnType<typeof loadExtension>>[] = [];

  /** Runs every cleanup, last loaded first, within `graceMs` in total. Never throws; problems go to `report`. */
  async function cleanUp(graceMs: number): Promise<void> {
    const outOfTime = Promise.withResolvers<'out of time'>();
    const callOff = clock.after(graceMs, () => outOfTime.resolve('out of time'));
    for (const { name, cleanup } of loaded.splice(0).toReversed()) {
      const failed = (error: unknown) => report(`cleanup failed: ${toTurnError(error).message}`, name, error);
      // An async function, so that a synchronous throw becomes a rejection.
      const outcome = await Promise.race([(async () => cleanup())().catch(failed), outOfTime.promise]);
      if (outcome === 'out of time') report(`cleanup was not finished within ${graceMs} ms`, name);
    }
    callOff();
  }

  try {
    // Extensions are loaded one after the other: the next one starts when the previous `register` has settled.
    for (const declaration of declarations) loaded.push(await loadExtension(declaration, deps));
  } catch (error) {
    await cleanUp(5_000);
    throw error;
  }
  return { names: loaded.map(({ name }) => name), cleanUp };
}

/** Loads all extensions of an agent in the order of their declaration: swarm-wide extensions first. */
import type { Clock } from '../../ports/clock.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import type { ExtensionDeps } from './extension-api.ts';
import { type ExtensionDeclaration, type LoadedExtension, loadExtension } from './load-extension.ts';

/** `thrown`: the error of a failed cleanup. */
export type ReportCleanUp = (message: string, extension: string, thrown?: unknown) => void;

export async function loadExtensions(
  declarations: readonly ExtensionDeclaration[],
  deps: ExtensionDeps,
  clock: Clock,
  report: ReportCleanUp,
) {
  const loaded: LoadedExtension[] = [];
  /** Runs every cleanup, last loaded first, within `graceMs` in total. Never throws; problems go to `report`. */
  const cleanUp = (graceMs: number) => cleanUpAll(loaded.splice(0).toReversed(), graceMs, clock, report);
  try {
    // Extensions are loaded one after the other: the next one starts when the previous `register` has settled.
    for (const declaration of declarations) loaded.push(await loadExtension(declaration, deps));
  } catch (error) {
    await cleanUp(5_000);
    throw error;
  }
  return { names: loaded.map(({ name }) => name), cleanUp };
}

async function cleanUpAll(
  extensions: readonly LoadedExtension[],
  graceMs: number,
  clock: Clock,
  report: ReportCleanUp,
): Promise<void> {
  const outOfTime = Promise.withResolvers<'out of time'>();
  const callOff = clock.after(graceMs, () => outOfTime.resolve('out of time'));
  for (const { name, cleanup } of extensions) {
    const outcome = await Promise.race([
      // An async function, so that a synchronous throw becomes a rejection.
      (async () => cleanup())().catch((error: unknown) =>
        report(`cleanup failed: ${toTurnError(error).message}`, name, error),
      ),
      outOfTime.promise,
    ]);
    if (outcome === 'out of time') report(`cleanup was not finished within ${graceMs} ms`, name);
  }
  callOff();
}

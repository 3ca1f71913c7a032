/** The process this runs in. Taken once, at the start: bundle code may put other functions in the place of these. */
import { systemClock } from '../../ports/clock.ts';
import { durableStore } from '../../workspace/durable-store.ts';
import type { ProcessHost } from './process-host.ts';

const exit = process.exit.bind(process);

export const thisProcess: ProcessHost = {
  clock: systemClock,
  settle(cwd, environment) {
    process.chdir(cwd);
    Object.assign(process.env, environment);
  },
  openJournal: (location, warn) => durableStore({ ...location, warn }),
  async shareOwnPackages() {
    const { shareOwnPackages } = await import('./share-own-packages.ts');
    shareOwnPackages();
  },
  onTerminate(listener) {
    process.on('SIGTERM', listener);
    // Typed at a terminal it reaches everybody; who goes is the orchestrator's decision.
    process.on('SIGINT', () => undefined);
  },
  onUncaught(listener) {
    process.on('uncaughtException', listener);
    process.on('unhandledRejection', listener);
  },
  exit,
};

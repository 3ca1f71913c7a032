/** The process this runs in. Taken once, at the start: bundle code may put other functions in the place of these. */
import { answerOwnPackages } from '../../bundle-imports/answer-own-packages.ts';
import { watchDraws } from '../draws/watch-draws.ts';
import { systemClock } from '../../ports/clock.ts';
import type { ProcessHost } from './process-host.ts';

const exit = process.exit.bind(process);

export const thisProcess: ProcessHost = {
  clock: systemClock,
  moveTo: (folder) => process.chdir(folder),
  async warmUp() {
    await import('../turn/run-turn.ts');
    await import('../../workspace/journal/durable-store.ts');
    await import('../model/scripted/open-scripted-model.ts');
  },
  async openJournal(location, warn) {
    const { durableStore } = await import('../../workspace/journal/durable-store.ts');
    return durableStore({ ...location, warn });
  },
  answerOwnPackages,
  watchDraws,
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

/**
 * The process in which this code runs. The functions of `process` are read once, at the start, because bundle code may
 * replace them.
 */
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
    await import('../../store/files/open-agent-store.ts');
    await import('./ipc-store.ts');
    await import('../model/scripted/open-scripted-model.ts');
  },
  async openStore(location, warn) {
    const { openAgentStore } = await import('../../store/files/open-agent-store.ts');
    return openAgentStore({ ...location, warn });
  },
  answerOwnPackages,
  watchDraws,
  onTerminate(listener) {
    process.on('SIGTERM', listener);
    // Ctrl-C in a terminal sends SIGINT to every process of the group; the orchestrator decides which of them end.
    process.on('SIGINT', () => undefined);
  },
  onUncaught(listener) {
    process.on('uncaughtException', listener);
    process.on('unhandledRejection', listener);
  },
  exit,
};

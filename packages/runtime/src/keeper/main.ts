/** The program of a keeper process. Its argument is the folder for long messages. */
import { answerOwnPackages } from '../bundle-imports/answer-own-packages.ts';
import { keeperLanguage } from '../ipc/codec.ts';
import { connectToParent } from '../ipc/connect-to-parent.ts';
import { FRAMES_KEPT } from '../log/locate-thrown.ts';
import { systemClock } from '../ports/clock.ts';
import { delayCompiling } from '../ports/delay-compiling.ts';
import { KeeperRun } from './keeper-run.ts';

/** The grace after SIGTERM. */
const SIGTERM_GRACE_MS = 10_000;

delayCompiling();
Error.stackTraceLimit = FRAMES_KEPT;
const [, , frameFolder = ''] = process.argv;
answerOwnPackages();
const run = new KeeperRun({
  channel: connectToParent(keeperLanguage, frameFolder),
  clock: systemClock,
  environment: process.env,
  exit: (code) => process.exit(code),
});
process.on('uncaughtException', (error) => void run.fail(error));
process.on('unhandledRejection', (reason) => void run.fail(reason));
process.on('SIGTERM', () => void run.drain(SIGTERM_GRACE_MS));
run.begin();

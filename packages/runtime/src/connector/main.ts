/** The program of a connector process. Its arguments are the folder for long messages and its working folder. */
import { answerOwnPackages } from '../bundle-imports/answer-own-packages.ts';
import { connectorLanguage } from '../ipc/codec.ts';
import { connectToParent } from '../ipc/connect-to-parent.ts';
import { FRAMES_KEPT } from '../log/locate-thrown.ts';
import { systemClock } from '../ports/clock.ts';
import { delayCompiling } from '../ports/delay-compiling.ts';
import { randomIds } from '../ports/ids.ts';
import { ConnectorRun } from './connector-run.ts';

/** The grace after SIGTERM. A person who sent SIGTERM and does not want to wait can send SIGKILL. */
const SIGTERM_GRACE_MS = 30_000;

delayCompiling();
Error.stackTraceLimit = FRAMES_KEPT;
const [, , frameFolder = '', workFolder = ''] = process.argv;
process.chdir(workFolder);
answerOwnPackages();
const run = new ConnectorRun({
  channel: connectToParent(connectorLanguage, frameFolder),
  clock: systemClock,
  ids: randomIds,
  folder: process.cwd(),
  exit: (code) => process.exit(code),
});
process.on('uncaughtException', (error) => void run.fail(error));
process.on('unhandledRejection', (reason) => void run.fail(reason));
process.on('SIGTERM', () => void run.drain(SIGTERM_GRACE_MS));
run.begin();

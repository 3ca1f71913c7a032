/**
 * The program of an agent process. Its first argument is the folder for messages that are too long for a frame. With a
 * second argument `shared`, it runs many conversations.
 */
import { agentLanguage } from '../ipc/codec.ts';
import { connectToParent } from '../ipc/connect-to-parent.ts';
import { noteRunningCode } from '../ipc/running-code.ts';
import { FRAMES_KEPT } from '../log/locate-thrown.ts';
import { delayCompiling } from '../ports/delay-compiling.ts';
import { seatedLanguage, SHARED } from '../ipc/seated-language.ts';
import { runAgentProcess } from './process/run-agent-process.ts';
import { thisProcess } from './process/this-process.ts';

delayCompiling();
Error.stackTraceLimit = FRAMES_KEPT;
const [, , frameFolder = '', kind] = process.argv;
const host = { ...thisProcess, running: noteRunningCode(frameFolder) };
if (kind === SHARED) {
  const channel = connectToParent(seatedLanguage(agentLanguage), frameFolder);
  void import('./process/run-shared-process.ts').then(({ runSharedProcess }) => runSharedProcess(channel, host));
} else {
  runAgentProcess(connectToParent(agentLanguage, frameFolder), host);
}

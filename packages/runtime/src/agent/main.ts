/** The program of an agent process. Its argument is the folder for messages that are too long for a frame. */
import { agentLanguage } from '../ipc/codec.ts';
import { connectToParent } from '../ipc/connect-to-parent.ts';
import { FRAMES_KEPT } from '../log/locate-thrown.ts';
import { delayCompiling } from '../ports/delay-compiling.ts';
import { runAgentProcess } from './process/run-agent-process.ts';
import { thisProcess } from './process/this-process.ts';

delayCompiling();
Error.stackTraceLimit = FRAMES_KEPT;
const [, , frameFolder = ''] = process.argv;
runAgentProcess(connectToParent(agentLanguage, frameFolder), thisProcess);

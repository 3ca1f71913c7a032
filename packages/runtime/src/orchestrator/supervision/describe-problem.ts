import { placeText } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';

/** Describes in one line why an agent or a connection does not start. */
export function describeProblem({ code, message, place }: FrameError): string {
  return `${code}: ${message}${place === undefined ? '' : ` (${placeText(place)})`}`;
}

/** Names a process for the log by its pid, as `ps` and `gdn status` do. A process that did not start has no pid. */
export function processName(pid: number | undefined): string {
  return pid === undefined ? 'The process' : `Process ${pid}`;
}

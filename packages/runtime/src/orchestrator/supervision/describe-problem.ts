import { placeText } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';

/** Why an agent or a connection does not start, in one line. */
export function describeProblem({ code, message, place }: FrameError): string {
  return `${code}: ${message}${place === undefined ? '' : ` (${placeText(place)})`}`;
}

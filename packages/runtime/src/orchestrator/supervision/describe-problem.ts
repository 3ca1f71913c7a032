import { placeText } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';

/** Describes in one line why an agent or a connection does not start. */
export function describeProblem({ code, message, place }: FrameError): string {
  return `${code}: ${message}${place === undefined ? '' : ` (${placeText(place)})`}`;
}

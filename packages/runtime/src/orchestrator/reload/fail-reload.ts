import { GoondanError } from '@goondan/types';
import type { Mask } from '../../log/mask-secrets.ts';

/**
 * Makes the error of a reload that failed because of a part. `problem` names the part. The error has the place in the
 * bundle's code, if the thrown value has one.
 */
export function failReload(problem: string, thrown: unknown, mask: Mask): GoondanError {
  const reason = mask(GoondanError.is(thrown) ? `${thrown.code}: ${thrown.message}` : String(thrown));
  const failure = new GoondanError('E_RELOAD_FAILED', `${problem} ${reason}`, { cause: thrown });
  const { place } = GoondanError.is(thrown) ? thrown : {};
  return place === undefined ? failure : Object.assign(failure, { place });
}

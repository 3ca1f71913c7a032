/**
 * Detects Bun. Node programs load the entry points of this package too, so code that needs Bun checks `isBun` first.
 */
import { GoondanError } from '@goondan/types';

export const isBun: boolean = typeof Bun !== 'undefined';

/** Throws `E_NEEDS_BUN` in Node. `what`: the subject of the message, for example `scriptedAgent`. */
export function requireBun(what: string, suggestion?: string): void {
  if (isBun) return;
  const advice = suggestion === undefined ? {} : { suggestion };
  throw new GoondanError('E_NEEDS_BUN', `${what} works in a Bun process only, and this process is Node.`, advice);
}

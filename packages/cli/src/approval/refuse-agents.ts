// A file of its own: a command that imported the whole entry point lazily would put all of it into one part of `gdn`.
import { isBelowSwarm } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

/** Lets only people answer. **Errors** — `E_APPROVAL_BELOW_AGENT` when an agent started this command. */
export function refuseAgents(command: 'approve' | 'deny'): void {
  if (!isBelowSwarm()) return;
  const message = `\`gdn ${command}\` was started by an agent. Only a person may answer.`;
  throw new GoondanError('E_APPROVAL_BELOW_AGENT', message);
}

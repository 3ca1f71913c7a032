// This function has its own file, so that a command can import it lazily. A lazy import of a whole entry point would
// put all of that entry point into one part of the built `gdn`.
import { isBelowSwarm } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

/**
 * Throws if an agent started this command, because only people may answer questions, undo or discard changes, and
 * approve tools that have changed.
 * **Errors** — `E_APPROVAL_BELOW_AGENT`.
 */
export function refuseAgents(
  command: 'approve' | 'deny' | 'answer' | 'changes undo' | 'changes discard' | 'mcp approve',
): void {
  if (!isBelowSwarm()) return;
  const message = `\`gdn ${command}\` was started by an agent. Only a person may ${command.includes(' ') ? 'do this' : 'answer'}.`;
  throw new GoondanError('E_APPROVAL_BELOW_AGENT', message);
}

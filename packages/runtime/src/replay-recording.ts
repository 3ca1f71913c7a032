import { GoondanError } from '@goondan/types';
import { startBunBeside } from './ipc/bun-beside.ts';
import { reviveMessage, type StoredMessage } from './messages/message-text.ts';
import type { ReplayOptions, ReplayReport } from './orchestrator/lone/replay-recording.ts';
import { isBun, requireBun } from './ports/is-bun.ts';

/**
 * Replays a recorded turn in a separate process, with the current agent or with changed extensions.
 *
 * **Errors** — `E_SWARM_PLAN`, `E_AGENT_UNKNOWN`, `E_REPLAY_EXTENSION`, `E_REPLAY_SWAP`, `E_REPLAY_PLAN`,
 * `E_REPLAY_INCOMPLETE`, `E_CANCELLED`, those of the agent's start; in Node also `E_BUN_MISSING`, and `E_NEEDS_BUN` for a `clock`.
 */
export async function replayRecording(options: ReplayOptions): Promise<ReplayReport> {
  if (isBun) return (await import('./orchestrator/lone/replay-recording.ts')).replayRecording(options);
  const { signal, clock, ...rest } = options;
  if (clock !== undefined) requireBun('A clock for replayRecording');
  const beside = await startBunBeside();
  const cancel = () => void beside.end();
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted === true) cancel();
  try {
    return await beside.call<ReplayReport>('replayRecording', rest);
  } catch (error) {
    if (signal?.aborted === true) throw new GoondanError('E_CANCELLED', 'The replay was ended early.');
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
    await beside.end();
  }
}

/** Replays a recording whose messages are JSON. */
export function replayStored(options: ReplayOptions): Promise<ReplayReport> {
  const { kept } = options;
  // Safe: only the dates of the messages were converted to text.
  const messages = (kept.messages as unknown as readonly StoredMessage[]).map(reviveMessage);
  return replayRecording({ ...options, kept: { ...kept, messages } });
}

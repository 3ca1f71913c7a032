import { GoondanError } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { AgentChannel } from './process-host.ts';

/**
 * Sends the result of a committed turn. A result that cannot be sent (too large, too deep) is replaced by an error that
 * says so. Without any answer, the orchestrator would request the turn again and again.
 */
export async function sendResult(
  channel: AgentChannel,
  answer: Extract<FromAgent, { readonly type: 'turn.done' | 'reply' }>,
): Promise<void> {
  try {
    await channel.send(answer);
  } catch (error) {
    if (!GoondanError.is(error) || !(error.code === 'E_IPC_FRAME' || error.code === 'E_IPC_SIZE')) throw error;
    const { turnId } = answer.result;
    const message = `The turn is committed, but its answer cannot be delivered. ${error.message}`;
    await channel.send({ ...answer, result: { turnId, finishReason: 'error', error: { code: error.code, message } } });
  }
}

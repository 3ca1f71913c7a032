/**
 * Asks about changesets on behalf of an agent in its own process. Every request goes to the orchestrator, which identifies
 * the conversation by the channel.
 */
import { GoondanError } from '@goondan/types';
import type { ChangesetAnswers } from '../../ipc/changeset-answers.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { ChangesetRequest } from '../../ipc/from-agent.ts';
import { PendingAnswers } from '../../ipc/pending-answers.ts';
import type { ChangesetEnd } from '../../ipc/to-agent.ts';
import { randomIds } from '../../ports/ids.ts';
import type { Changesets } from '../seams/changesets.ts';
import type { AgentChannel } from './process-host.ts';

export class IpcChangesets implements Changesets {
  readonly requests = new PendingAnswers<ChangesetEnd>();

  constructor(
    private readonly channel: AgentChannel,
    readonly swarmName: string,
  ) {
    channel.onClose(() => {
      this.requests.refuseAll(new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited, so no answer will come.'));
    });
  }

  async ask<Kind extends ChangesetRequest['kind']>(
    request: Extract<ChangesetRequest, { readonly kind: Kind }>,
    signal: AbortSignal,
  ): Promise<ChangesetAnswers[Kind]> {
    const callId = randomIds.next('changeset');
    const end = await this.requests.ask(
      callId,
      () => this.channel.send({ type: 'changeset.ask', callId, request }),
      signal,
      () => this.channel.send({ type: 'changeset.withdrawn', callId }),
    );
    // Safe: the orchestrator answers each kind of request with its own shape, as `ChangesetAnswers` lists them.
    if (end.status === 'answered') return end.value as unknown as ChangesetAnswers[Kind];
    throw fromFrameError(end.error);
  }
}

/**
 * Asks people on behalf of an agent in its own process. Every question goes to the orchestrator, which stores it,
 * shows it to people and returns their answer. This process cannot create an answer itself.
 */
import { GoondanError } from '@goondan/types';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import { PendingAnswers } from '../../ipc/pending-answers.ts';
import type { QuestionEnd } from '../../ipc/to-agent.ts';
import { randomIds } from '../../ports/ids.ts';
import type { Question, Approver } from '../seams/approver.ts';
import type { AgentChannel } from './process-host.ts';

export class IpcApprover implements Approver {
  readonly questions = new PendingAnswers<QuestionEnd>();

  constructor(private readonly channel: AgentChannel) {
    channel.onClose(() => {
      this.questions.refuseAll(
        new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited, so no answer will come.'),
      );
    });
  }

  async ask({ turnId: _, ...question }: Question, signal: AbortSignal) {
    const callId = randomIds.next('approval');
    const end = await this.questions.ask(
      callId,
      () => this.channel.send({ type: 'question.ask', callId, ...question }),
      signal,
      () => this.channel.send({ type: 'question.withdrawn', callId }),
    );
    if (end.status === 'answered') return end.answer;
    throw fromFrameError(end.error);
  }

  taken(id: string): void {
    // If this message is lost, the orchestrator keeps the answer until the turn ends.
    this.channel.send({ type: 'question.taken', id }).catch(() => undefined);
  }
}

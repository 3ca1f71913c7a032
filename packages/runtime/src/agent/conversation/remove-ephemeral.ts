import type { EphemeralScope } from '@goondan/types';
import type { Conversation } from './conversation.ts';

/** Removes what was only meant for this step or turn, as events like any other, so that the history shows it. */
export function removeEphemeral(conversation: Conversation, scope: EphemeralScope, stepId: string | undefined): void {
  for (const message of conversation.ephemeral(scope)) {
    conversation.emit({ type: 'remove', targetId: message.id }, { kind: 'runtime' }, stepId);
  }
}

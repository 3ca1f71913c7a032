/** For tests: writes a long conversation as an agent would, but faster. */
import { durableStore } from '@goondan/runtime/history';
import { createAssistantMessage, createUserMessage, type Message } from '@goondan/types';

export interface LongLife {
  readonly stateRoot: string;
  readonly turns: number;
  /** The number of messages that each turn adds; each message is one event. */
  readonly perTurn: number;
}

/** Writes the conversation. Its last turn fails, with a suggestion. */
export async function writeLongLife({ stateRoot, turns, perTurn }: LongLife): Promise<void> {
  const journal = await durableStore({ stateRoot, workspaceId: 'long', warn: () => undefined });
  const at = { agentName: 'talker', instanceKey: 'default' };
  for (let turn = 1; turn <= turns; turn += 1) {
    const turnId = `t${turn}`;
    const { epoch } = await journal.open(at, turnId);
    const messages = Array.from({ length: perTurn }, (_, index) => messageNumber((turn - 1) * perTurn + index + 1));
    const records = messages.map((message) => {
      const author = message.data.role === 'user' ? ({ kind: 'input' } as const) : ({ kind: 'model' } as const);
      return { type: 'message', event: { type: 'append', message }, author } as const;
    });
    await journal.append(at, epoch, 0, records);
    const error = { code: 'E_MODEL_FAILED', message: 'Too many requests.', suggestion: 'Wait a minute.' };
    const failed = { turnId, finishReason: 'error', error } as const;
    const result = turn === turns ? failed : ({ turnId, finishReason: 'text_response' } as const);
    await journal.commit(at, epoch, turnId, { type: 'append', messages }, {}, result);
  }
  await journal.close();
}

function messageNumber(number: number): Message {
  const text = `Message number ${number}. ${'It has as many words as most have. '.repeat(4)}`;
  return number % 2 === 1 ? createUserMessage(text) : createAssistantMessage(text);
}

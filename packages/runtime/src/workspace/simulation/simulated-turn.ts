/** A minimal turn, for tests that do not depend on the contents of the turn. */
import { type AgentAddress, createAssistantMessage, createUserMessage } from '@goondan/types';
import type { AgentEvent, JsonValue, Message, TurnError } from '@goondan/types';
import type { ConversationStore, TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { Journal } from '../journal/journal.ts';

export interface SimpleTurn {
  readonly text?: string;
  readonly extensionState?: Readonly<Record<string, JsonValue>>;
  readonly error?: TurnError;
}

export function simpleEvent(id: string, more: Partial<AgentEvent> = {}): AgentEvent {
  return {
    id,
    type: 'user.message',
    input: `input of ${id}`,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'test' },
    traceId: 'trace',
    createdAt: new Date('2026-01-02T03:04:05.678Z'),
    ...more,
  };
}

/** Creates the records of a turn with one step: an input and an answer. */
export function simpleRecords(eventId: string, text = `answer to ${eventId}`): [TurnRecord, TurnRecord, TurnRecord] {
  const stepId = `step-${eventId}`;
  const input = createUserMessage(`input of ${eventId}`, {}, { id: `input-${eventId}` });
  const source = { type: 'assistant', stepId } as const;
  const answer = createAssistantMessage(text, {}, { id: `answer-${eventId}`, source });
  return [
    { type: 'message', event: { type: 'append', message: input }, author: { kind: 'input' } },
    { type: 'message', event: { type: 'append', message: answer }, author: { kind: 'model' }, stepId },
    { type: 'step', stepId, stepIndex: 0, outcome: 'completed', toolResults: [], metadata: {}, extensionState: {} },
  ];
}

export function messagesOf(records: readonly TurnRecord[]): Message[] {
  return records.flatMap((record) =>
    record.type === 'message' && 'message' in record.event ? [record.event.message] : [],
  );
}

/** Opens a turn, appends its records and commits it. A journal is told the number of the event, as the orchestrator does. */
export async function runSimpleTurn(
  store: ConversationStore & Partial<Pick<Journal, 'pendingEntries'>>,
  instance: AgentAddress,
  eventId: string,
  { text, extensionState, error }: SimpleTurn = {},
): Promise<void> {
  const turnId = `turn-${eventId}`;
  const entry = (await store.pendingEntries?.(instance))?.find(({ event }) => event.id === eventId);
  const opened = await store.open(instance, turnId, entry);
  const records = simpleRecords(eventId, text);
  await store.append(instance, opened.epoch, 0, records);
  const messages = messagesOf(records);
  const [, responseMessage] = messages;
  const result = error
    ? ({ turnId, finishReason: 'error', error } as const)
    : ({ turnId, finishReason: 'text_response', ...(responseMessage && { responseMessage }) } as const);
  const state = extensionState ?? opened.extensionState;
  await store.commit(instance, opened.epoch, turnId, { type: 'append', messages }, state, result);
}

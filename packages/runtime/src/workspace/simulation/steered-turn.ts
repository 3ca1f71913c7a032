/** A minimal turn that takes the inputs of other events while it runs. */
import { type AgentAddress, createUserMessage, type TurnError } from '@goondan/types';
import type { TakenInput, TurnInput, TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { Journal } from '../journal/journal.ts';
import { messagesOf, simpleRecords } from './simulated-turn.ts';

/** Makes the record of a taken input. */
export function tookRecord(input: TurnInput, beforeStep: number): TurnRecord {
  const { id, input: text = '', source } = input.event;
  const message = createUserMessage(text, {}, { id: `input-${id}`, createdAt: input.event.createdAt });
  const took: TakenInput = { ...input, beforeStep };
  return { type: 'message', event: { type: 'append', message }, author: { kind: 'input', from: source }, took };
}

/** Runs the turn of an event, which takes the other events after its only step. All of them must be pending. */
export async function runSteeredTurn(
  journal: Pick<Journal, 'open' | 'append' | 'commit' | 'pendingEntries'>,
  instance: AgentAddress,
  eventId: string,
  taken: readonly string[],
  error?: TurnError,
): Promise<void> {
  const entries = await journal.pendingEntries(instance);
  const find = (id: string) => {
    const entry = entries.find(({ event }) => event.id === id);
    if (!entry) throw new Error(`${id} is not pending`);
    return { seq: entry.seq, event: entry.event };
  };
  const turnId = `turn-${eventId}`;
  const opened = await journal.open(instance, turnId, find(eventId));
  const records = [...simpleRecords(eventId), ...taken.map((id) => tookRecord(find(id), 1))];
  await journal.append(instance, opened.epoch, 0, records);
  const messages = messagesOf(records);
  const result = error
    ? ({ turnId, finishReason: 'error', error } as const)
    : ({ turnId, finishReason: 'text_response' } as const);
  await journal.commit(instance, opened.epoch, turnId, { type: 'append', messages }, opened.extensionState, result);
}

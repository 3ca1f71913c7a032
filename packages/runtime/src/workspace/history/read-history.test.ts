import { expect, test } from 'bun:test';
import { createSystemMessage } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { openJournal } from '../journal/journal.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { messagesOf, simpleRecords } from '../simulation/simulated-turn.ts';
import { readHistory } from './read-history.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };

test('events that a crash or a dropped step undid are in the archive and do not count', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openJournal(simulatedMachine(disk, 1), simulatedLocation);
  const { epoch } = await journal.open(coder, 'turn-e');
  const [input, answer, end] = simpleRecords('e');
  const says = (id: string): TurnRecord => ({
    type: 'message',
    event: { type: 'append', message: createSystemMessage(id, {}, { id }) },
    author: { kind: 'extension', name: 'x' },
    stepId: 'step-e',
  });
  // The cast is safe: `end` is a step record.
  const dropped = { ...end, outcome: 'dropped' } as TurnRecord;
  const records = [input, says('crashed'), { type: 'resumed' }, says('dropped'), dropped, answer, end] as const;
  await journal.append(coder, epoch, 0, records);
  const result = { turnId: 'turn-e', finishReason: 'text_response' } as const;
  const delta = { type: 'append', messages: messagesOf([input, answer]) } as const;
  await journal.commit(coder, epoch, 'turn-e', delta, {}, result);

  for await (const { events } of journal.archive(coder)) {
    expect(events.map(({ counts }) => counts)).toEqual([true, false, false, true]);
  }
  const { last, turns } = await readHistory(journal, coder);
  const shown = turns.flatMap(({ events }) => events.map(({ event }) => 'message' in event && event.message.id));
  expect([last, shown]).toEqual([2, ['input-e', 'answer-e']]);
});

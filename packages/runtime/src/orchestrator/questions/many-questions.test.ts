import { expect, test } from 'bun:test';
import type { QuestionRecord } from '../../questions/question-record.ts';
import { countedIds } from '../../testing/counted-ids.ts';
import { type ManualClock, manualClock } from '../../testing/manual-clock.ts';
import { Questions } from './questions.ts';

const MANY = 5_000;

/** Opens very many stored questions. `looks`: how often one of them was looked at to find the instances that wait. */
function openMany(clock: ManualClock, expiresAt: string) {
  const work = { told: 0, looks: 0 };
  const records = Array.from({ length: MANY }, (_, at) => recordOf(`q${at}`, expiresAt));
  const questions: Questions = new Questions({
    ...{ clock, ids: countedIds(), requests: records, maskFor: () => (text) => text },
    store: {
      put: () => Promise.resolve(),
      answer: () => Promise.resolve(true),
      remove: () => Promise.resolve(),
      onChange: () => () => undefined,
    },
    ...{ say: () => undefined, tell: () => undefined, report: () => undefined },
    events: {
      decided: () => undefined,
      waitsChanged() {
        work.told += 1;
        work.looks += questions.asking().length;
      },
    },
  });
  return { questions, work };
}

function recordOf(id: string, expiresAt: string): QuestionRecord {
  const turn = { agent: 'coder', instanceKey: id, eventId: 'e', traceId: 't', key: 'k', toolCallId: 'x' };
  const asked = { kind: 'call' as const, toolName: 'bash', args: {}, digest: 'd', reason: 'Why not?' };
  return { id, ...turn, ...asked, askedAt: '2026-01-01T00:00:00.000Z', expiresAt };
}

test('N-01 a start with very many questions of ended turns looks at each of them a few times only', () => {
  const clock = manualClock();
  const { questions, work } = openMany(clock, '9999-01-01T00:00:00.000Z');
  expect(questions.pending()).toHaveLength(MANY);
  questions.dropUnless((_, eventId) => eventId !== 'e');
  expect([questions.pending(), work]).toEqual([[], { told: 1, looks: 0 }]);
  questions.close();
});

test('N-01 very many questions that expire together are told of once', async () => {
  const clock = manualClock();
  const { questions, work } = openMany(clock, clock.now().toISOString());
  await clock.advance(1);
  expect([questions.asking(), work]).toEqual([[], { told: 1, looks: 0 }]);
  questions.close();
});

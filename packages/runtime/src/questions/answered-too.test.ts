import { expect, test } from 'bun:test';
import { digestJson } from '../json/digest-json.ts';
import { answerToo } from './answered-too.ts';
import type { QuestionRecord } from './question-record.ts';

const given = { decision: 'approved', by: 'ann', note: 'Fine.', decidedAt: '2026-01-01T12:00:00Z' } as const;
const record = (id: string, to: number, more: Partial<QuestionRecord> = {}): QuestionRecord => ({
  ...{ id, agent: 'coder', instanceKey: 'one', eventId: 'e', traceId: 't', key: '0/model', toolCallId: '0/model' },
  ...{ toolName: 'budget', kind: 'budget', args: { to }, digest: digestJson({ to }), reason: 'More?' },
  ...{ askedAt: '2026-01-01T00:00:00Z', expiresAt: '2026-01-02T00:00:00Z' },
  ...more,
});

test('Y-04 an answer about a budget is also that of other open questions about the same raise, and of no others', () => {
  const answered = record('first', 4, { answer: given });
  expect(answerToo(record('same', 4, { instanceKey: 'two' }), answered)).toEqual(given);
  expect(answerToo(record('more', 8), answered)).toBeUndefined();
  expect(answerToo(record('first', 4), answered)).toBeUndefined();
  const denied = { decision: 'denied', decidedAt: '2026-01-01T12:00:00Z' } as const;
  expect(answerToo(record('old', 4, { answer: denied }), answered)).toBeUndefined();
  expect(answerToo(record('change', 4, { kind: 'change' }), answered)).toBeUndefined();
});

test('Y-04 the answer of a client about a budget is that of its own turns only; an operator answers for all', () => {
  const root = (connection: string, user?: string) => ({
    root: { connection, eventId: 'r', ...(user !== undefined && { auth: { user } }) },
  });
  const byClient = { ...given, by: 'ann@web' };
  const answered = record('first', 4, { ...root('web', 'ann'), answer: byClient });
  expect(answerToo(record('own', 4, { ...root('web', 'ann'), agent: 'other' }), answered)).toEqual(byClient);
  const foreign = [root('web', 'bob'), root('web'), root('chat', 'ann'), {}];
  for (const more of foreign) expect(answerToo(record('other', 4, more), answered)).toBeUndefined();
  const byOperator = record('first', 4, { ...root('web', 'ann'), answer: given });
  for (const more of foreign) expect(answerToo(record('other', 4, more), byOperator)).toEqual(given);
});

test('an answer for always is also that of open questions of its conversation that it allows, without its note', () => {
  const call = (id: string, to: number, more: Partial<QuestionRecord> = {}) =>
    record(id, to, { kind: 'call', toolName: 'files__write', fingerprint: 'f1', ...more });
  const { decision, by, decidedAt } = given;
  const too = { decision, by, grant: 'first', decidedAt } as const;
  const tool = call('first', 4, { answer: { ...given, always: 'tool' } });
  expect(answerToo(call('other', 8), tool)).toEqual(too);
  const [agent, instanceKey, toolName, fingerprint] = ['x', 'x', 'x', 'x'];
  for (const more of [{ agent }, { instanceKey }, { toolName }, { fingerprint }, { askedBy: { server: 'x' } }])
    expect(answerToo(call('other', 8, more), tool)).toBeUndefined();
  const edited = call('first', 4, { answer: { ...given, always: 'arguments', args: { to: 1 } } });
  expect([1, 4, 8].map((to) => answerToo(call('other', to), edited))).toEqual([too, undefined, undefined]);
  expect(answerToo(call('other', 4), call('first', 4, { answer: given }))).toBeUndefined();
});

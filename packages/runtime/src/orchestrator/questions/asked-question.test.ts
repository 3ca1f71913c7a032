import { expect, test } from 'bun:test';
import { digestJson } from '../../json/digest-json.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import { isAnsweredWith } from '../../questions/same-raise.ts';

const record = (id: string, to: number, more: Partial<QuestionRecord> = {}): QuestionRecord => ({
  ...{ id, agent: 'coder', instanceKey: 'one', eventId: 'e', traceId: 't', key: '0/model', toolCallId: '0/model' },
  ...{ toolName: 'budget', kind: 'budget', args: { to }, digest: digestJson({ to }), reason: 'More?' },
  ...{ askedAt: '2026-01-01T00:00:00Z', expiresAt: '2026-01-02T00:00:00Z' },
  ...more,
});

test('Y-04 an answer about a budget is also that of other open questions about the same raise, and of no others', () => {
  const answered = record('first', 4);
  expect(isAnsweredWith(record('same', 4), answered)).toBe(true);
  expect(isAnsweredWith(record('more', 8), answered)).toBe(false);
  expect(isAnsweredWith(answered, answered)).toBe(false);
  const given = { decision: 'denied', decidedAt: '2026-01-01T12:00:00Z' } as const;
  expect(isAnsweredWith(record('old', 4, { answer: given }), answered)).toBe(false);
  expect(isAnsweredWith(record('change', 4, { kind: 'change' }), answered)).toBe(false);
});

import type { QuestionRecord } from '@goondan/runtime/history';

/** The record of an open question about a tool call. */
export function questionOf(id: string, more: Partial<QuestionRecord> = {}): QuestionRecord {
  const turn = { agent: 'coder', instanceKey: 'key', eventId: 'event', traceId: 'trace', key: id, toolCallId: id };
  const times = { askedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2999-01-01T00:00:00.000Z' };
  const call = { toolName: 'bash', kind: 'call', args: {}, digest: id, reason: 'Why not?' } as const;
  return { id, ...turn, ...times, ...call, ...more };
}

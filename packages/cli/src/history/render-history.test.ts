import { expect, test } from 'bun:test';
import type { HistoryPage } from '@goondan/runtime/history';
import { createAssistantMessage, createUserMessage } from '@goondan/types';
import { createColors } from '../colors.ts';
import { renderHistory } from './render-history.ts';

const at = new Date('2026-01-02T03:04:05Z');
const page: HistoryPage = {
  first: 1,
  last: 2,
  turns: [
    {
      turnId: 'turn-1',
      version: 1,
      committedAt: at,
      result: { turnId: 'turn-1', finishReason: 'text_response' },
      events: [
        {
          seq: 1,
          at,
          author: { kind: 'extension', name: 'a-name-that-is-long-as-names-can-be' },
          event: { type: 'append', message: createUserMessage('漢'.repeat(100)) },
        },
        {
          seq: 2,
          at,
          author: { kind: 'model', ref: 'Model/漢字' },
          event: { type: 'append', message: createAssistantMessage('Yes.') },
        },
      ],
    },
  ],
};

const render = (columns: number) => renderHistory(page, { colors: createColors(false), columns, isWatched: false });

test.each([160, 120, 100, 99, 80])('fits into %d columns, one row for each event, in columns', (columns) => {
  const rows = render(columns).trimEnd().split('\n');
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(columns);
  const [first = '', second = ''] = rows.slice(1).map((row) => row.slice(0, row.indexOf('append')));
  expect(Bun.stringWidth(first)).toBe(Bun.stringWidth(second));
});

test('in a narrow terminal only the turn shows the day', () => {
  expect(render(160)).toContain('  1  2026-01-02T03:04:05Z  extension');
  expect(render(80)).toContain('  1  03:04:05Z  extension');
  expect(render(80)).toStartWith('turn-1  2026-01-02T03:04:05Z  answered\n');
});

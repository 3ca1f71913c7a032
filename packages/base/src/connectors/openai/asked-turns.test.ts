import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectorQuestion } from '@goondan/types';
import { AskedTurns } from './asked-turns.ts';

const folder = mkdtempSync(join(tmpdir(), 'goondan-asked-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('N-01 a repeated answer is known after a restart, and nothing of a form is on disk', () => {
  const turn = { client: 'ci', agent: 'clerk', conversation: 'c', isNamed: false, eventId: 'e1', properties: {} };
  const text = '{"decision":"approved","content":{"password":"hunter2-hunter2"}}';
  const turns = new AskedTurns(folder);
  turns.shown({ id: 'q1', digest: 'd1' } as ConnectorQuestion, turn);
  const shown = turns.find('q1') ?? { ...turn, id: '', digest: '' };
  expect(turns.isAnsweredWith(shown, text)).toBe(false);
  turns.answered(shown, text);
  const again = new AskedTurns(folder);
  expect([text, 'no'].map((each) => again.isAnsweredWith(shown, each))).toEqual([true, false]);
  expect(readFileSync(join(folder, 'questions.jsonl'), 'utf8')).not.toContain('hunter2');
});

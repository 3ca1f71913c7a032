import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectorQuestion } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { AskedTurns } from './asked-turns.ts';
import { continueTurn } from './continue-turn.ts';
import { readToolAnswer } from './question-call.ts';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';

const root = temporaryFolder();
const turn = { client: 'ci', agent: 'clerk', conversation: 'c', isNamed: false, eventId: 'e1', properties: {} };
const question = (id: string) => ({ id, digest: `digest-of-${id}` }) as ConnectorQuestion;

test('N-04 the newest questions are remembered, in a file for the user alone that does not grow', () => {
  const folder = mkdtempSync(join(root, 'a-'));
  const turns = new AskedTurns(folder, 2);
  const file = join(folder, 'questions.jsonl');
  const lines = () => readFileSync(file, 'utf8').trim().split('\n').length;
  for (let count = 0; count < 3; count += 1) turns.shown(question('q1'), turn);
  const mode = () => statSync(file).mode & 0o777;
  expect([lines(), mode()]).toEqual([1, 0o600]);
  for (let number = 2; number < 20; number += 1) turns.shown(question(`q${number}`), turn);
  expect(lines()).toBeLessThanOrEqual(4);
  for (const each of [turns, new AskedTurns(folder, 2)])
    expect(['q17', 'q18', 'q19'].map((id) => each.find(id)?.id)).toEqual([undefined, 'q18', 'q19']);
  expect(mode()).toBe(0o600);
});

test('N-04 a line of the file that is no question is not used', () => {
  const folder = mkdtempSync(join(root, 'd-'));
  const whole = { ...turn, id: 'q', digest: 'd' };
  const lines = Object.keys(whole).map((field, at) => ({
    ...whole,
    id: `q${at}`,
    [field]: field === 'id' ? 7 : undefined,
  }));
  const written = [whole, ...lines, null, [], { ...whole, id: 'q99', answer: {} }].map((line) => JSON.stringify(line));
  writeFileSync(join(folder, 'questions.jsonl'), written.join('\n'));
  const turns = new AskedTurns(folder);
  expect(turns.find('q')).toEqual(whole);
  expect([...lines.keys(), 99].filter((at) => turns.find(`q${at}`) !== undefined)).toEqual([]);
});

test('N-04 answers to questions of two turns, and answers without a token, are refused', async () => {
  const turns = new AskedTurns(mkdtempSync(join(root, 'b-')));
  turns.shown(question('q1'), turn);
  turns.shown(question('q2'), { ...turn, eventId: 'e2' });
  turns.shown(question('q3'), { ...turn, client: '' });
  const answered: unknown[] = [];
  const questions = { answer: async (reply: unknown) => void answered.push(reply) };
  const refusal = async (ids: readonly string[], client?: string) => {
    const answers = ids.map((id) => ({ callId: `call_${id}`, text: 'yes' }));
    try {
      await continueTurn({ questions } as never, { turns } as never, { answers } as never, client);
    } catch (error) {
      return error instanceof Refusal ? [error.status, error.code] : error;
    }
    return 'none';
  };
  expect(await refusal(['q1', 'q2'], 'ci')).toEqual([400, 'E_HTTP_BODY']);
  expect(await refusal(['q3'])).toEqual([403, 'E_QUESTION_FORBIDDEN']);
  expect(answered).toEqual([]);
});

test.each(['', '  ', 'wait', '{"decision":"wait"}'])('N-04 a client that waits has not answered: %j', (text) => {
  expect(readToolAnswer(text)).toEqual({ type: 'wait' });
});

test('N-01 a repeated answer is known after a restart, and nothing of a form is on disk', () => {
  const folder = mkdtempSync(join(root, 'c-'));
  const text = '{"decision":"approved","content":{"password":"hunter2-hunter2"}}';
  const turns = new AskedTurns(folder);
  turns.shown(question('q1'), turn);
  const shown = turns.find('q1') ?? { ...turn, id: '', digest: '' };
  expect(turns.isAnsweredWith(shown, text)).toBe(false);
  turns.answered(shown, text);
  const again = new AskedTurns(folder);
  expect([text, 'no'].map((each) => again.isAnsweredWith(shown, each))).toEqual([true, false]);
  expect(readFileSync(join(folder, 'questions.jsonl'), 'utf8')).not.toContain('hunter2');
});

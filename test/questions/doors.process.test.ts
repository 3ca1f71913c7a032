// Every question that is asked through a door is answered through every other door, in one swarm of real processes.
import { setDefaultTimeout } from 'bun:test';
import type { QuestionSummary } from '@goondan/runtime';
import { openQuestions } from '@goondan/runtime/internal';
import { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { afterEach, beforeEach, describe, expect, test } from '../../packages/postgres/src/testing/with-postgres.ts';
import { sampledCases } from '../samples.ts';
import { type Begun, codeOf, type DoorName, Doors, kimToken } from './doors.ts';

setDefaultTimeout(180_000);

const names: readonly DoorName[] = ['client', 'gdn', 'studio', 'socket', 'http', 'openai'];
const cells = names.flatMap((asked) => names.map((answered) => ({ asked, answered })));
const late = expect.stringMatching(/^E_QUESTION_(ENDED|UNKNOWN)$/);

let place: GdnPlace;
const cleanups: (() => Promise<unknown>)[] = [];
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => {
  expect(await place.remove()).toEqual([]);
  for (const cleanup of cleanups.splice(0)) await cleanup();
}, 60_000);

/** A connector answers only the questions of its own connection; every other door answers all. */
function mayAnswer({ asked, answered }: (typeof cells)[number]): boolean {
  return asked === answered || (answered !== 'http' && answered !== 'openai');
}

const paid = ({ args: { euros } }: QuestionSummary) => `Paid ${typeof euros === 'string' ? euros : '?'}`;

async function tryCell(doors: Doors, cell: (typeof cells)[number]): Promise<void> {
  const { question, end } = await doors.ask[cell.asked]();
  const { id, digest } = question;
  const answer = doors.answer[cell.answered];
  // Others may not answer: another connection, one without the permission, another client.
  expect(await doors.answerHttp('RIVAL', 'a-token-of-the-ci-1', id, { digest })).toBe('E_QUESTION_FORBIDDEN');
  expect(await doors.answerHttp('SILENT', 'a-token-of-the-ci-1', id, { digest })).toBe('E_QUESTION_FORBIDDEN');
  expect(await doors.answerHttp('API', kimToken, id, { digest })).toBe('E_QUESTION_FORBIDDEN');
  if (!mayAnswer(cell)) {
    expect(await answer(question)).toMatch(/^E_QUESTION_(FORBIDDEN|UNKNOWN)$/);
    expect(await doors.answer.client(question)).toBe('answered');
  } else {
    // `gdn approve` reads the digest itself.
    if (cell.answered !== 'gdn') expect(await answer(question, { digest: 'x' })).toBe('E_QUESTION_CHANGED');
    expect(await answer(question)).toBe('answered');
    // The openai client repeats its own answer to get the rest of the turn, so its second answer is another one.
    if (cell.answered !== 'openai') expect(await answer(question)).toEqual(late);
  }
  expect(await end()).toContain(paid(question));
  expect(await doors.answer.client(question)).toEqual(late);
}

/** Asks through every door, and answers from disk while nothing runs. */
async function tryDisk(doors: Doors): Promise<void> {
  const begun: Begun[] = [];
  // `gdn send --wait` ends with the swarm.
  for (const name of names) if (name !== 'gdn') begun.push(await doors.ask[name]());
  await doors.stop();
  const disk = await openQuestions({ ...doors.address, swarm: 'default' });
  for (const { question } of begun) {
    const { id, digest } = question;
    const reply = { id, digest, decision: 'approved', by: 'kim', via: 'disk' } as const;
    expect(await codeOf(disk.answer({ ...reply, digest: 'x' }))).toBe('E_QUESTION_CHANGED');
    expect(await codeOf(disk.answer(reply))).toBe('answered');
    expect(await codeOf(disk.answer(reply))).toEqual(late);
  }
  await disk.close();
  await doors.start();
  for (const { question, end } of begun) expect(await end()).toContain(paid(question));
}

describe('every door', () => {
  test('N-04 answers the questions of each other door, and refuses late, second and foreign answers', async () => {
    await using doors = await Doors.open(place);
    // Each door asks and answers; the test on PostgreSQL takes other pairs.
    for (const cell of sampledCases(cells, 5)) await tryCell(doors, cell);
    await tryDisk(doors);
    // Another swarm, with other processes of connectors, knows the questions and their clients.
    const begun = [await doors.ask.http(), await doors.ask.openai()] as const;
    await doors.stop();
    await doors.start();
    expect(await doors.answerHttp('API', kimToken, begun[0].question.id, { digest: begun[0].question.digest })).toBe(
      'E_QUESTION_FORBIDDEN',
    );
    expect(await doors.answer.http(begun[0].question)).toBe('answered');
    expect(await doors.answer.openai(begun[1].question)).toBe('answered');
    for (const { question, end } of begun) expect(await end()).toContain(paid(question));
  });

  test('N-04 does the same on PostgreSQL', async () => {
    const database = await makeTestDatabase();
    cleanups.push(() => database.drop());
    const store = { GOONDAN_STORE: database.address };
    const { stdout } = await place.runWith({ env: store }, 'store', 'init', '--json');
    const { token } = JSON.parse(stdout) as { token: string };
    await using doors = await Doors.open(place, { ...store, GOONDAN_CLUSTER_TOKEN: token });
    for (const cell of sampledCases(cells, 7)) await tryCell(doors, cell);
  });

  test('N-04 answers the questions of agents that the first agent called', async () => {
    await using doors = await Doors.open(place);
    const asked = await doors.http('API', '/', { input: 'order 7', id: 'o', to: 'boss' });
    expect(asked).toMatchObject({ status: 202, body: { agent: 'boss', questions: [{ agent: 'payer' }] } });
    const [question] = await doors.swarm.questions();
    const { id = '', digest = '' } = question ?? {};
    expect((await doors.http('API', '/questions', undefined, kimToken)).body).toEqual({ questions: [] });
    expect((await doors.http('RIVAL', '/questions')).body).toEqual({ questions: [] });
    expect(await doors.answerHttp('API', kimToken, id, { digest })).toBe('E_QUESTION_FORBIDDEN');
    expect(await doors.answerHttp('RIVAL', 'a-token-of-the-ci-1', id, { digest })).toBe('E_QUESTION_FORBIDDEN');
    expect(await doors.answer.http({ ...question, id, digest } as never)).toBe('answered');
    const answer = await doors.http('API', '/', { input: 'order 7', id: 'o', to: 'boss' });
    expect(answer).toMatchObject({ status: 200, body: { response: 'Paid 7' } });
  });
});

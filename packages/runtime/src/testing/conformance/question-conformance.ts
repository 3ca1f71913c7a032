import type { QuestionStore } from '../../store/question-store.ts';
import type { AnsweredQuestion, QuestionRecord } from '../../questions/question-record.ts';
import { checksOf, expectEqual, type OpenSeams, type RegisterCheck } from './conformance.ts';

export interface QuestionSeams {
  readonly questions: QuestionStore;
  /** Opens the same store at another node. Absent if the swarm can have only one. */
  readonly elsewhere?: () => Promise<QuestionStore>;
}

/** Checks the promises of `QuestionStore`. `patienceMs`: the time in which another node is told of a change. */
export function questionConformance(
  register: RegisterCheck,
  open: OpenSeams<QuestionSeams>,
  { patienceMs = 10_000 }: { readonly patienceMs?: number } = {},
): void {
  const check = checksOf(register, open);

  check('requests are durable and listed in the order in which they were made', async ({ questions }, again) => {
    expectEqual(await questions.list(), [], 'a new store has no requests');
    for (const id of ['b', 'a', 'c']) await questions.put(request(id));
    const { questions: next } = await again();
    expectEqual(await next.list(), ['b', 'a', 'c'].map(request), 'every request is kept');
    const { agent: agentName, instanceKey } = request('a');
    const own = await next.list({ agentName, instanceKey });
    expectEqual(own, ['b', 'a', 'c'].map(request), 'all requests of an instance are listed');
  });

  check('a request is answered once, and keeps its place', async ({ questions }, again) => {
    for (const id of ['a', 'b']) await questions.put(request(id));
    expectEqual(await questions.answer(answered('a', 'approved')), true, 'the first answer counts');
    expectEqual(await questions.answer(answered('a', 'denied')), false, 'a second answer is refused');
    const next = (await again()).questions;
    expectEqual(await next.list(), [answered('a', 'approved'), request('b')], 'the first answer is durable');
    expectEqual(await next.answer(answered('a', 'denied')), false, 'an earlier answer is known');
    expectEqual(await next.list(), [answered('a', 'approved'), request('b')], 'a refused answer changes nothing');
  });

  check('of two answers at the same time one counts', async ({ questions, elsewhere }) => {
    await questions.put(request('a'));
    const other = (await elsewhere?.()) ?? questions;
    const given = await Promise.all([
      questions.answer(answered('a', 'approved')),
      other.answer(answered('a', 'denied')),
    ]);
    expectEqual(given.filter(Boolean).length, 1, 'exactly one answer is the first');
    const [stored] = await questions.list();
    expectEqual(stored?.answer?.decision, given[0] ? 'approved' : 'denied', 'the answer that counts is stored');
  });

  check('a request that was removed takes no answer', async ({ questions, elsewhere }, again) => {
    for (const id of ['a', 'b']) await questions.put(request(id));
    const other = (await elsewhere?.()) ?? questions;
    await questions.answer(answered('a', 'approved'));
    for (const id of ['a', 'b']) await questions.remove(id);
    expectEqual(await other.answer(answered('a', 'denied')), false, 'its turn has ended with another answer');
    expectEqual(await other.answer(answered('b', 'approved')), false, 'its turn has ended without an answer');
    expectEqual(await (await again()).questions.list(), [], 'nothing is added');
  });

  check('a removed request is gone', async ({ questions }, again) => {
    for (const id of ['a', 'b']) await questions.put(request(id));
    await questions.remove('a');
    await questions.remove('unknown');
    const next = (await again()).questions;
    expectEqual(await next.list(), [request('b')], 'only the other one is left');
    await next.put(request('a'));
    expectEqual(await next.list(), [request('b'), request('a')], 'it can be made again');
  });

  check('every change is told once it is durable', async ({ questions, elsewhere }) => {
    const listened = (await elsewhere?.()) ?? questions;
    const told: [id: string, record: QuestionRecord | undefined][] = [];
    const stored: Promise<readonly QuestionRecord[]>[] = [];
    const end = listened.onChange((id, record) => {
      told.push([id, record]);
      stored.push(questions.list());
    });
    await questions.put(request('a'));
    await questions.answer(answered('a', 'approved'));
    await questions.answer(answered('a', 'denied'));
    await questions.remove('a');
    await untilTrue(() => told.length >= 3, patienceMs);
    expectEqual(
      told,
      [
        ['a', request('a')],
        ['a', answered('a', 'approved')],
        ['a', undefined],
      ],
      'three changes',
    );
    // A slow listener may see a later state, but never one from before its change.
    expectEqual((await stored[2])?.length, 0, 'the change is stored when it is told');
    end();
    await questions.put(request('b'));
    expectEqual(told.length, 3, 'a removed listener is not called');
  });
}

/** Returns when the condition is true, or after the given time. */
async function untilTrue(isTrue: () => boolean, mostMs: number): Promise<void> {
  const deadline = performance.now() + mostMs;
  while (!isTrue() && performance.now() < deadline) await new Promise((resolve) => void setTimeout(resolve, 10));
}

function request(id: string): QuestionRecord {
  return {
    id,
    agent: 'conformance',
    instanceKey: 'default',
    eventId: 'event',
    traceId: '0123456789abcdef0123456789abcdef',
    key: `0/call/${id}/approval/0`,
    toolCallId: id,
    toolName: 'bash__exec',
    kind: 'call',
    askedBy: { extension: 'approval' },
    schema: { type: 'object' },
    fingerprint: 'f',
    args: { command: 'ls', nested: { list: [1, null] } },
    digest: `digest of ${id}`,
    reason: 'It runs a command.',
    askedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-02T00:00:00.000Z',
  };
}

function answered(id: string, decision: 'approved' | 'denied'): AnsweredQuestion {
  return {
    ...request(id),
    answer: {
      decision,
      by: 'somebody',
      via: 'chat',
      always: 'tool',
      args: { a: [1] },
      decidedAt: '2026-01-01T00:00:01.000Z',
    },
  };
}

import type { AnsweredApproval, ApprovalStore } from '../../store/approval-store.ts';
import type { ApprovalRecord } from '../../workspace/approvals/approval-record.ts';
import { checksOf, expectEqual, type OpenSeams, type RegisterCheck } from './conformance.ts';

export interface ApprovalSeams {
  readonly approvals: ApprovalStore;
  /** Opens the same store at another node. Absent if the swarm can have only one. */
  readonly elsewhere?: () => Promise<ApprovalStore>;
}

/** Checks the promises of `ApprovalStore`. `patienceMs`: the time in which another node is told of a change. */
export function approvalConformance(
  register: RegisterCheck,
  open: OpenSeams<ApprovalSeams>,
  { patienceMs = 10_000 }: { readonly patienceMs?: number } = {},
): void {
  const check = checksOf(register, open);

  check('requests are durable and listed in the order in which they were made', async ({ approvals }, again) => {
    expectEqual(await approvals.list(), [], 'a new store has no requests');
    for (const id of ['b', 'a', 'c']) await approvals.put(request(id));
    expectEqual(await (await again()).approvals.list(), ['b', 'a', 'c'].map(request), 'every request is kept');
  });

  check('a request is answered once, and keeps its place', async ({ approvals }, again) => {
    for (const id of ['a', 'b']) await approvals.put(request(id));
    expectEqual(await approvals.answer(answered('a', 'approved')), true, 'the first answer counts');
    expectEqual(await approvals.answer(answered('a', 'denied')), false, 'a second answer is refused');
    const next = (await again()).approvals;
    expectEqual(await next.list(), [answered('a', 'approved'), request('b')], 'the first answer is durable');
    expectEqual(await next.answer(answered('a', 'denied')), false, 'an earlier answer is known');
    expectEqual(await next.list(), [answered('a', 'approved'), request('b')], 'a refused answer changes nothing');
  });

  check('of two answers at the same time one counts', async ({ approvals, elsewhere }) => {
    await approvals.put(request('a'));
    const other = (await elsewhere?.()) ?? approvals;
    const given = await Promise.all([
      approvals.answer(answered('a', 'approved')),
      other.answer(answered('a', 'denied')),
    ]);
    expectEqual(given.filter(Boolean).length, 1, 'exactly one answer is the first');
    const [stored] = await approvals.list();
    expectEqual(stored?.answer?.decision, given[0] ? 'approved' : 'denied', 'the answer that counts is stored');
  });

  check('a request that was removed takes no answer', async ({ approvals, elsewhere }, again) => {
    for (const id of ['a', 'b']) await approvals.put(request(id));
    const other = (await elsewhere?.()) ?? approvals;
    await approvals.answer(answered('a', 'approved'));
    for (const id of ['a', 'b']) await approvals.remove(id);
    expectEqual(await other.answer(answered('a', 'denied')), false, 'its turn has ended with another answer');
    expectEqual(await other.answer(answered('b', 'approved')), false, 'its turn has ended without an answer');
    expectEqual(await (await again()).approvals.list(), [], 'nothing is added');
  });

  check('a removed request is gone', async ({ approvals }, again) => {
    for (const id of ['a', 'b']) await approvals.put(request(id));
    await approvals.remove('a');
    await approvals.remove('unknown');
    const next = (await again()).approvals;
    expectEqual(await next.list(), [request('b')], 'only the other one is left');
    await next.put(request('a'));
    expectEqual(await next.list(), [request('b'), request('a')], 'it can be made again');
  });

  check('every change is told once it is durable', async ({ approvals, elsewhere }) => {
    const listened = (await elsewhere?.()) ?? approvals;
    const told: [id: string, record: ApprovalRecord | undefined][] = [];
    const stored: Promise<readonly ApprovalRecord[]>[] = [];
    const end = listened.onChange((id, record) => {
      told.push([id, record]);
      stored.push(approvals.list());
    });
    await approvals.put(request('a'));
    await approvals.answer(answered('a', 'approved'));
    await approvals.answer(answered('a', 'denied'));
    await approvals.remove('a');
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
    await approvals.put(request('b'));
    expectEqual(told.length, 3, 'a removed listener is not called');
  });
}

/** Returns when the condition is true, or after the given time. */
async function untilTrue(isTrue: () => boolean, mostMs: number): Promise<void> {
  const deadline = performance.now() + mostMs;
  while (!isTrue() && performance.now() < deadline) await new Promise((resolve) => void setTimeout(resolve, 10));
}

function request(id: string): ApprovalRecord {
  return {
    id,
    agent: 'conformance',
    instanceKey: 'default',
    eventId: 'event',
    traceId: '0123456789abcdef0123456789abcdef',
    key: `0/call/${id}/approval/0`,
    toolCallId: id,
    toolName: 'bash__exec',
    args: { command: 'ls', nested: { list: [1, null] } },
    digest: `digest of ${id}`,
    reason: 'It runs a command.',
    askedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-02T00:00:00.000Z',
  };
}

function answered(id: string, decision: 'approved' | 'denied'): AnsweredApproval {
  return { ...request(id), answer: { decision, by: 'somebody', decidedAt: '2026-01-01T00:00:01.000Z' } };
}

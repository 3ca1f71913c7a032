import { expect, test } from 'bun:test';
import { defined } from '../../json/defined.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import type { SwarmListener } from '../instances/swarm-listener.ts';
import type { ChangesetSource } from './examine-changeset.ts';
import { type ChangesetDeps, serveChangesets } from './serve-changesets.ts';

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

const at = { agentName: 'a', instanceKey: 'one' };
const frame = { type: 'changeset.ask', callId: 'r1', request: { kind: 'open' } } as const;

/** Serves changesets to a swarm of which only the used parts exist. */
function serve(source?: Pick<ChangesetSource['store'], 'sweep'> & Partial<ChangesetSource['store']>) {
  const clock = manualClock();
  const listeners: SwarmListener[] = [];
  const said: ToAgent[] = [];
  const reports: string[] = [];
  const told: unknown[] = [];
  const swarm = {
    listen: (listener: SwarmListener) => void listeners.push(listener),
    instances: { find: () => ({ say: (message: ToAgent) => void said.push(message) }) },
    report: (level: string, event: string, _message: string, _subject: unknown, data?: unknown) => {
      reports.push(`${level} ${event}`);
      told.push(data);
    },
  };
  // The casts are safe: nothing else is used before a request arrives, nor by a request to open a changeset.
  const currentPlan = { value: { plan: { name: 'test' }, settings: { changes: { allow: ['**'] } } } };
  const deps = { swarm, clock, currentPlan } as unknown as ChangesetDeps;
  const served = serveChangesets(deps, source && ({ store: source } as unknown as ChangesetSource));
  return { ...served, clock, listeners, said, reports, told };
}

test('a swarm that was not started from a folder refuses every request', async () => {
  const { listeners, said } = serve();
  for (const each of listeners) each.heard?.(at, frame, fakeEvent('go'));
  await settle();
  expect(said).toMatchObject([
    { type: 'changeset.ended', callId: 'r1', outcome: { status: 'failed', error: { code: 'E_CHANGESET_SOURCE' } } },
  ]);
});

test('expired changesets are deleted at the start and every hour, and a failure is reported', async () => {
  let sweeps = 0;
  const served = serve({
    sweep: async () => {
      sweeps += 1;
      if (sweeps === 2) throw new Error('full');
    },
  });
  expect(sweeps).toBe(1);
  await served.clock.advance(3_599_999);
  expect(sweeps).toBe(1);
  for (const _ of [1, 2]) {
    await served.clock.advance(3_600_000);
    await settle();
  }
  expect(sweeps).toBe(3);
  expect(served.reports).toEqual(['warn changeset.not_swept']);
  await served.close();
  await served.clock.advance(7_200_000);
  expect(sweeps).toBe(3);
});

test.each(['sweep', 'open'] as const)('the end of the swarm waits for a running %s', async (work) => {
  const running = Promise.withResolvers<never>();
  const served = serve({ sweep: async () => undefined, [work]: () => running.promise });
  for (const each of served.listeners) each.heard?.(at, frame, fakeEvent('go'));
  let isClosed = false;
  const closed = served.close().then(() => void (isClosed = true));
  await settle();
  expect(isClosed).toBe(false);
  running.reject(new Error('over'));
  await closed;
});

test.each([
  [{ decision: 'denied', by: 'ann', note: 'Too much.' }, 'Denied by ann: Too much.'],
  [{ decision: 'denied', by: 'ann', via: 'chat' }, 'Denied by ann via chat.'],
  [{ decision: 'denied' }, 'Denied by a person.'],
  [{ decision: 'expired' }, 'Nobody approved it in time.'],
  [{ decision: 'approved', by: 'ann' }, undefined],
] as const)('L-05 the log and the changeset say that its question was %j', async (outcome, told) => {
  const notes: string[] = [];
  const note = async (id: string, text: string) => void notes.push(`${id}: ${text}`);
  const served = serve({ sweep: async () => undefined, note });
  const question = { kind: 'change', agent: 'a', instanceKey: 'one', eventId: 'e1', args: { changesetId: 'c1' } };
  for (const { kind, ...asked } of [question, { ...question, kind: undefined }]) {
    // The cast is safe: nothing else of the question is used.
    const record = { ...asked, ...(kind !== undefined && { kind }) } as unknown as QuestionRecord;
    for (const each of served.listeners) each.decided?.(record, outcome);
  }
  await served.close();
  expect(notes).toEqual(told === undefined ? [] : [`c1: ${told}`]);
  expect(served.reports).toEqual(told === undefined ? [] : ['warn changeset.rejected']);
  const { by, via } = { by: undefined, via: undefined, ...outcome };
  const data = { changesetId: 'c1', agent: 'a', reason: 'policy_violation', ...defined({ by, via }) };
  expect(served.told).toEqual(told === undefined ? [] : [data]);
});

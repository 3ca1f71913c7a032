import { describe, expect, test } from 'bun:test';
import { type AgentAddress, type AgentEvent, errorCatalogue, type GoondanError, type JsonObject } from '@goondan/types';
import type { QuestionNotice } from '../../control/swarm.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import { countedIds } from '../../testing/counted-ids.ts';
import { decide } from '../../testing/decide-question.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import type { QuestionReply } from '../../questions/check-reply.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import { questionLimits, Questions } from './questions.ts';
import { type AskFrame, LONGEST_ARGUMENTS } from './asked-question.ts';

const HOUR = 3_600_000;
const at: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
const other: AgentAddress = { agentName: 'coder', instanceKey: 'other' };
const event = fakeEvent('go', { id: 'e1' });

/** A fake disk in memory that can fail. */
class FakeDisk {
  readonly kept = new Map<string, QuestionRecord>();
  fails = false;
  get records() {
    return [...this.kept.values()];
  }
  async put(record: QuestionRecord) {
    await Promise.resolve();
    if (this.fails) throw new Error('the disk is gone');
    this.kept.set(record.id, record);
  }
  async answer(record: QuestionRecord) {
    if (this.kept.get(record.id)?.answer !== undefined) return false;
    await this.put(record);
    return true;
  }
  async remove(id: string) {
    await Promise.resolve();
    this.kept.delete(id);
  }
  /** Stores an answer as another node does. This node is told later. */
  async answerElsewhere(id: string, decision: 'approved' | 'denied') {
    const record = this.kept.get(id);
    if (record === undefined) throw new Error('There is no such request.');
    const answered = { ...record, answer: { decision, decidedAt: record.askedAt } };
    this.kept.set(id, answered);
    await Promise.resolve();
    await Promise.resolve();
    for (const listener of this.listeners) listener(id, answered);
  }
  readonly listeners = new Set<(id: string, record?: QuestionRecord) => void>();
  onChange(listener: (id: string, record?: QuestionRecord) => void) {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

function open(disk = new FakeDisk(), clock = manualClock()) {
  /** The messages to processes. */
  const said: ToAgent[] = [];
  const told: QuestionNotice[] = [];
  const reports: string[] = [];
  const ids = countedIds();
  // The ids that the earlier run used are skipped, because each run creates new ids.
  for (const _ of disk.records) ids.next('approval');
  const questions = new Questions({
    clock,
    ids,
    store: disk,
    requests: disk.records,
    say: (_, message) => void said.push(message),
    tell: (notice) => void told.push(notice()),
    maskFor: () => maskSecrets(['hunter2-hunter2']),
    report: (level, name, message, about) => void reports.push(`${level} ${name} ${about?.turnId}: ${message}`),
    events: { decided: () => undefined, waitsChanged: () => undefined },
  });
  return {
    questions,
    disk,
    clock,
    said,
    told,
    reports,
    /** Asks as the process of an instance does. Returns the id of the newest question. */
    ask: async (
      callId: string,
      more: Partial<AskFrame> = {},
      { at: who = at, during = event }: { at?: AgentAddress; during?: AgentEvent } = {},
    ) => {
      questions.ask(who, during, { ...frame(callId), ...more });
      await settle();
      return questions.pending().at(-1)?.id ?? '';
    },
    endOf: (callId: string): unknown => said.flatMap((message) => (isEnd(message, callId) ? message.outcome : []))[0],
  };
}

function isEnd(message: ToAgent, callId: string): message is Extract<ToAgent, { type: 'question.ended' }> {
  return message.type === 'question.ended' && message.callId === callId;
}

function frame(callId: string, args: JsonObject = { command: 'ls' }): AskFrame {
  return {
    type: 'question.ask',
    callId,
    key: '0/call/x/approval/0',
    toolCallId: 'x',
    toolName: 'bash__exec',
    kind: 'call',
    args,
    reason: 'Why not?',
    expiresInMs: 24 * HOUR,
  };
}

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

const approved = { decision: 'approved', by: 'ann' } as const;

describe('an approval request', () => {
  test('is stored, shown with the identity of its channel, and answered', async () => {
    const { questions, disk, told, ask, endOf, reports } = open();
    await ask('c1');
    const [summary] = questions.pending();
    expect(summary).toMatchObject({
      agent: 'coder',
      instanceKey: 'default',
      eventId: 'e1',
      traceId: event.traceId,
      toolCallId: 'x',
      toolName: 'bash__exec',
      args: { command: 'ls' },
      reason: 'Why not?',
      askedAt: '2026-01-01T00:00:00.000Z',
      expiresAt: '2026-01-02T00:00:00.000Z',
    });
    expect(summary?.id).toMatch(/^[0-9a-f]{8}$/);
    expect(summary?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(disk.records).toHaveLength(1);
    expect(endOf('c1')).toBeUndefined();
    expect(await decide(questions, summary?.id ?? '', { ...approved, note: 'fine' })).toBe(true);
    const answer = { id: summary?.id, decision: 'approved', by: 'ann', note: 'fine' };
    expect(endOf('c1')).toEqual({ status: 'answered', answer });
    expect(told.map(({ state, outcome }) => [state, outcome])).toEqual([
      ['asked', undefined],
      ['decided', { decision: 'approved', by: 'ann', note: 'fine' }],
    ]);
    expect(questions.pending()).toEqual([]);
    expect(reports).toEqual([
      `info approval.asked turn-e1: bash__exec waits for approval ${summary?.id}: Why not?`,
      `info approval.decided turn-e1: bash__exec, approval ${summary?.id}: approved by ann.`,
    ]);
  });

  test('is answered once, and removed when its answer is taken', async () => {
    const { questions, disk, ask } = open();
    const id = await ask('c1');
    const both = [decide(questions, id, approved), decide(questions, id, { decision: 'denied' })];
    expect(await Promise.all(both)).toEqual([true, false]);
    expect(await decide(questions, id, { decision: 'denied' })).toBe(false);
    expect(disk.kept.get(id)?.answer?.decision).toBe('approved');
    questions.taken(other, id);
    await settle();
    expect(disk.kept.has(id)).toBe(true);
    questions.taken(at, id);
    await settle();
    expect(disk.records).toEqual([]);
  });

  test('asked again after a crash joins the open one or gets its answer; an answer counts once', async () => {
    const { questions, ask, endOf, said } = open();
    await ask('c1');
    questions.processGone(at);
    await ask('c2');
    expect(questions.pending()).toHaveLength(1);
    const id = questions.pending()[0]?.id ?? '';
    await decide(questions, id, approved);
    expect([endOf('c1'), endOf('c2')]).toMatchObject([undefined, { answer: { id, decision: 'approved' } }]);
    // The process exited before it could store the answer.
    questions.processGone(at);
    await ask('c3');
    expect(endOf('c3')).toMatchObject({ answer: { id, decision: 'approved' } });
    questions.taken(at, id);
    await ask('c4');
    expect(endOf('c4')).toBeUndefined();
    expect(questions.pending()).toHaveLength(1);
    expect(said).toHaveLength(2);
  });

  test('N-04 is withdrawn if the turn asks something else at its place after a crash', async () => {
    const { questions, ask, disk, told } = open();
    const url = (state: string) => ({ kind: 'page' as const, args: {}, url: `https://a.example/?state=${state}` });
    await ask('c1', url('one'));
    await ask('c2', { ...url('other'), key: 'another place' });
    questions.processGone(at);
    await ask('c3', url('two'));
    expect(questions.pending().map((each) => each.url)).toEqual([url('other').url, url('two').url]);
    expect(told.find(({ state }) => state === 'withdrawn')?.question.url).toBe(url('one').url);
    expect(disk.records).toHaveLength(2);
    // A process that waits for both has asked both.
    await ask('c4', url('three'));
    expect(questions.pending()).toHaveLength(3);
    // Another turn asks nothing in its place.
    questions.processGone(at);
    await ask('c5', url('four'), { during: fakeEvent('go', { id: 'e2' }) });
    expect(questions.pending()).toHaveLength(4);
  });

  test('N-04 about a tool that has changed after a crash is asked again', async () => {
    for (const isAnswered of [true, false]) {
      const { questions, ask, endOf, disk } = open();
      await ask('c1', { fingerprint: 'one' });
      if (isAnswered) await decide(questions, questions.pending()[0]?.id ?? '', approved);
      questions.processGone(at);
      await ask('c2', { fingerprint: 'two' });
      expect(endOf('c2')).toBeUndefined();
      const [asked, ...more] = questions.pending();
      expect([asked?.fingerprint, more, disk.records.length]).toEqual(['two', [], isAnswered ? 2 : 1]);
      await decide(questions, asked?.id ?? '', approved);
      expect(endOf('c2')).toMatchObject({ answer: { id: asked?.id, decision: 'approved' } });
      questions.turnFinished(at, { event });
      await Bun.sleep(0);
      expect(disk.records).toEqual([]);
    }
  });

  test.each([
    ['arguments', { args: { command: 'rm -rf /' } }, {}],
    ['another call', { toolCallId: 'y' }, {}],
    ['another place', { key: '1/call/x/approval/0' }, {}],
    ['another tool', { toolName: 'bash__other' }, {}],
    ['another kind', { kind: 'change' as const }, {}],
    ['another turn', {}, { during: fakeEvent('go', { id: 'e2' }) }],
    ['another instance', {}, { at: other }],
  ])('with %s is another request', async (_, more, whose) => {
    const { questions, ask, endOf } = open();
    await ask('c1');
    await decide(questions, questions.pending()[0]?.id ?? '', approved);
    await ask('c2', more, whose);
    expect(endOf('c2')).toBeUndefined();
    expect(questions.pending()).toHaveLength(1);
  });

  test('L-05 approves a changeset only with its conversation, kind, arguments and the yes of a person', async () => {
    const { questions, ask } = open();
    const args = { changesetId: 'c', digest: 'd', files: [] };
    await ask('c1', { kind: 'change', args });
    await ask('c2', { args, toolCallId: 'y' });
    await ask('c3', { kind: 'change', args, toolCallId: 'z' });
    const [change, call, denied] = questions.pending().map(({ id }) => id);
    if (change === undefined || call === undefined || denied === undefined) throw new Error('not asked');
    expect(questions.pending().map(({ kind }) => kind)).toEqual(['change', 'call', 'change']);
    // The key is for the process that asks.
    expect(questions.pending()[0]).not.toHaveProperty('key');
    expect(questions.findApproval(at, change, 'change', args)).toBeUndefined();
    for (const id of [change, call]) await decide(questions, id, approved);
    await decide(questions, denied, { decision: 'denied', by: 'ann' });
    expect(questions.findApproval(at, change, 'change', args)).toEqual({ by: 'ann' });
    expect(questions.findApproval(at, change, 'change', { ...args, digest: 'e' })).toBeUndefined();
    expect(questions.findApproval(other, change, 'change', args)).toBeUndefined();
    for (const id of [call, denied, 'forged']) expect(questions.findApproval(at, id, 'change', args)).toBeUndefined();
    questions.taken(at, change);
    expect(questions.findApproval(at, change, 'change', args)).toBeUndefined();
  });

  test('with its keys in another order is the same request', async () => {
    const { questions, ask } = open();
    await ask('c1', { args: { a: 1, b: { c: 2, d: 3 } } });
    await ask('c2', { args: { b: { d: 3, c: 2 }, a: 1 } });
    expect(questions.pending()).toHaveLength(1);
  });

  test('survives the orchestrator, answered or not', async () => {
    const first = open();
    await first.ask('c1');
    await first.ask('c2', { toolCallId: 'y' });
    const [one, two] = first.questions.pending();
    await decide(first.questions, one?.id ?? '', approved);

    const second = open(first.disk, first.clock);
    second.questions.dropUnless((where, eventId) => where.instanceKey === 'default' && eventId === 'e1');
    expect(second.questions.pending()).toEqual(two === undefined ? [] : [two]);
    await second.ask('c3');
    expect(second.endOf('c3')).toMatchObject({ answer: { id: one?.id, decision: 'approved' } });
    await second.ask('c4', { toolCallId: 'y' });
    expect(await decide(second.questions, two?.id ?? '', { decision: 'denied' })).toBe(true);
    expect(second.endOf('c4')).toMatchObject({ answer: { id: two?.id, decision: 'denied' } });
  });

  test('is removed with its turn: at its end, at a fresh start, at the next start', async () => {
    const { questions, disk, told, ask } = open();
    await ask('c1');
    questions.drop(at, 'another');
    questions.drop(other, 'e1');
    expect(questions.pending()).toHaveLength(1);
    questions.drop(at, 'e1');
    await settle();
    expect([questions.pending(), disk.records]).toEqual([[], []]);
    expect(told.map(({ state }) => state)).toEqual(['asked', 'withdrawn']);
    await ask('c2');
    questions.drop(at);
    await ask('c3');
    questions.dropUnless(() => false);
    await settle();
    expect(disk.records).toEqual([]);
  });

  test('is withdrawn when no frame waits for it, but not when its process is gone', async () => {
    const { questions, ask } = open();
    await ask('c1');
    questions.withdrawn(other, 'c1');
    expect(questions.pending()).toHaveLength(1);
    questions.processGone(at);
    questions.withdrawn(at, 'c1');
    expect(questions.pending()).toHaveLength(1);
    await ask('c2');
    questions.withdrawn(at, 'c2');
    expect(questions.pending()).toEqual([]);
  });

  test('leaves nothing behind when it ends while it or its answer is being written', async () => {
    const { questions, disk, said, told, ask } = open();
    questions.ask(at, event, frame('c1'));
    questions.drop(at, 'e1');
    await settle();
    expect([questions.pending(), disk.records, told]).toEqual([[], [], []]);
    await ask('c2');
    const decided = decide(questions, questions.pending()[0]?.id ?? '', approved);
    questions.drop(at, 'e1');
    expect(await decided).toBe(false);
    await settle();
    expect([disk.records, said]).toEqual([[], []]);
    // The people who saw the request are told that it needs no answer any more.
    expect(told.map(({ state }) => state)).toEqual(['asked', 'withdrawn']);
  });
});

describe('a frame of a process', () => {
  test('is never an answer: `taken` for an unanswered request changes nothing', async () => {
    const { questions, ask, endOf } = open();
    const id = await ask('c1');
    questions.taken(at, id);
    expect(questions.pending()).toHaveLength(1);
    expect(endOf('c1')).toBeUndefined();
  });

  test('has its secrets masked on disk, for people and in the log; the approval covers the exact arguments', async () => {
    const { questions, disk, told, reports, ask, endOf } = open();
    const secret = { args: { token: 'hunter2-hunter2' }, reason: 'hunter2-hunter2?' };
    await ask('c1', secret);
    expect(JSON.stringify([disk.records, told, reports, questions.pending()])).not.toContain('hunter2-hunter2');
    expect(questions.pending()[0]?.args).toEqual({ token: '***' });
    await decide(questions, questions.pending()[0]?.id ?? '', approved);
    await ask('c2', { ...secret, args: { token: '***' } });
    expect(endOf('c2')).toBeUndefined();
  });

  test('N-04 has its secrets masked in forms, in schemas of tools and in the identity of a client', async () => {
    const { questions, disk, told, ask } = open();
    const schema = { type: 'object', properties: { a: { type: 'string', title: 'hunter2-hunter2' } } };
    const source = { kind: 'connector', name: 'web' } as const;
    const during = fakeEvent('go', { id: 'e2', source, auth: { client: 'hunter2-hunter2' } });
    await ask('c1', { kind: 'form', args: {}, schema }, { during });
    await ask('c2', { schema });
    // A schema that nobody can read is left out.
    await ask('c3', { key: 'k3', schema: { ...schema, description: 'x'.repeat(64_000) } });
    expect(questions.pending().map(({ schema: shown }) => shown !== undefined)).toEqual([true, true, false]);
    expect(questions.pending()[0]?.root).toEqual({ connection: 'web', eventId: 'e2', auth: { client: '***' } });
    expect(JSON.stringify([disk.records, told])).not.toContain('hunter2-hunter2');
  });

  test('outside of a turn, or with too many arguments, is rejected', async () => {
    const { questions, ask, endOf } = open();
    questions.ask(at, undefined, frame('c0'));
    await ask('c1', { args: { text: 'x'.repeat(LONGEST_ARGUMENTS) } });
    await ask('c2', { expiresInMs: 31 * 24 * HOUR });
    await ask('c3', { expiresInMs: 0 });
    await ask('c4', { reason: 'x'.repeat(4_001) });
    for (const callId of ['c0', 'c1', 'c2', 'c3', 'c4']) {
      expect(endOf(callId)).toMatchObject({ status: 'failed', error: { code: 'E_APPROVAL_REQUEST' } });
    }
    expect(questions.pending()).toEqual([]);
  });

  test('is bounded per instance and in total', async () => {
    const { questions, ask, endOf } = open();
    const { mostOfOne, mostOfAll } = questionLimits;
    for (let number = 0; number < mostOfOne; number++) await ask(`c${number}`, { toolCallId: `x${number}` });
    await ask('one', { toolCallId: 'more' });
    expect(endOf('one')).toMatchObject({ error: { code: 'E_APPROVALS_FULL' } });
    for (let number = mostOfOne; number < mostOfAll; number++) {
      await ask(`c${number}`, {}, { at: { ...at, instanceKey: `i${number}` } });
    }
    await ask('all', {}, { at: other });
    expect(endOf('all')).toMatchObject({ error: { code: 'E_APPROVALS_FULL' } });
    expect(questions.pending()).toHaveLength(mostOfAll);
    // Repeating a known request does not count as a new request.
    await ask('again', { toolCallId: 'x0' });
    expect(endOf('again')).toBeUndefined();
  });
});

describe('an expiring request', () => {
  test('is answered as expired, and cannot be approved any more', async () => {
    const { questions, clock, told, ask, endOf } = open();
    const id = await ask('c1');
    await clock.advance(24 * HOUR - 1);
    expect(endOf('c1')).toBeUndefined();
    await clock.advance(1);
    expect(endOf('c1')).toEqual({ status: 'answered', answer: { id, decision: 'expired' } });
    expect(await decide(questions, id, approved)).toBe(false);
    expect(told.at(-1)).toMatchObject({ state: 'decided', outcome: { decision: 'expired' } });
    await ask('c2');
    expect(endOf('c2')).toMatchObject({ answer: { decision: 'expired' } });
  });

  test.each([
    ['the wall clock moved two days on, as after sleep', { wall: 48 * HOUR, growing: 0 }],
    ['the wall clock was set back and the time is over', { wall: -48 * HOUR, growing: 25 * HOUR }],
  ])('is not shown and cannot be approved before its timer fires: %s', async (_how, moved) => {
    for (const look of ['decide', 'pending'] as const) {
      const clock = manualClock();
      let shift = { wall: 0, growing: 0 };
      const { questions, ask, endOf, told } = open(new FakeDisk(), {
        ...clock,
        now: () => new Date(clock.now().getTime() + shift.wall),
        elapsed: () => clock.elapsed() + shift.growing,
      });
      const id = await ask('c1');
      shift = moved;
      if (look === 'decide') expect(await decide(questions, id, approved)).toBe(false);
      expect(questions.pending()).toEqual([]);
      expect(endOf('c1')).toEqual({ status: 'answered', answer: { id, decision: 'expired' } });
      expect(await decide(questions, id, approved)).toBe(false);
      expect(told.map(({ state }) => state)).toEqual(['asked', 'decided']);
    }
  });

  test('expires at once when its time ran out during an answer that failed on disk', async () => {
    const { questions, ask, disk, clock, endOf } = open();
    const id = await ask('c1');
    const slow = Promise.withResolvers<void>();
    disk.put = () => slow.promise;
    const refused = rejectionOf(decide(questions, id, approved));
    await clock.advance(25 * HOUR);
    slow.reject(new Error('the disk is gone'));
    expect(await refused).toMatchObject({ message: 'the disk is gone' });
    expect(endOf('c1')).toEqual({ status: 'answered', answer: { id, decision: 'expired' } });
  });

  test('is removed from disk with its turn, also after an answer failed on disk', async () => {
    const { questions, ask, disk } = open();
    await ask('c1');
    disk.fails = true;
    const refused = rejectionOf(decide(questions, questions.pending()[0]?.id ?? '', approved));
    questions.drop(at);
    expect(await refused).toMatchObject({ message: 'the disk is gone' });
    await Promise.resolve();
    expect(disk.records).toEqual([]);
  });

  test('expires also while the swarm is stopped, and so does an answer that was not fetched', async () => {
    const first = open();
    await first.ask('c1');
    await first.ask('c2', { toolCallId: 'y' });
    await decide(first.questions, first.questions.pending()[0]?.id ?? '', approved);
    first.questions.close();
    await first.clock.advance(25 * HOUR);
    const second = open(first.disk, first.clock);
    await second.clock.advance(0);
    expect(second.questions.pending()).toEqual([]);
    await second.ask('c3');
    await second.ask('c4', { toolCallId: 'y' });
    expect([second.endOf('c3'), second.endOf('c4')]).toMatchObject([
      { answer: { decision: 'expired' } },
      { answer: { decision: 'expired' } },
    ]);
  });
});

describe('on a disk error', () => {
  test('a request that cannot be stored is not asked, and its model reads no path', async () => {
    const { questions, disk, ask, endOf, told } = open();
    disk.fails = true;
    await ask('c1');
    const { meaning } = errorCatalogue.E_STORE_WRITE;
    expect(endOf('c1')).toMatchObject({ status: 'failed', error: { code: 'E_STORE_WRITE', message: meaning } });
    expect([questions.pending(), told]).toEqual([[], []]);
  });

  test('an answer that cannot be stored does not count, and can be given again', async () => {
    const { questions, disk, ask, endOf } = open();
    const id = await ask('c1');
    disk.fails = true;
    expect(await rejectionOf(decide(questions, id, approved))).toMatchObject({ message: 'the disk is gone' });
    expect(endOf('c1')).toBeUndefined();
    disk.fails = false;
    expect(await decide(questions, id, approved)).toBe(true);
    expect(endOf('c1')).toMatchObject({ answer: { decision: 'approved' } });
  });
});

describe('a request that another node can answer', () => {
  test('is withdrawn when the store removes it, as a deletion of its conversation does', async () => {
    const { questions, disk, told, ask } = open();
    await ask('c1');
    const [id = ''] = disk.kept.keys();
    disk.kept.delete(id);
    for (const listener of disk.listeners) listener(id);
    expect([questions.pending(), told.map(({ state }) => state)]).toEqual([[], ['asked', 'withdrawn']]);
    expect(await rejectionOf(questions.answer({ id, ...approved }))).toMatchObject({ code: 'E_QUESTION_ENDED' });
  });

  test('is asked at its own node only: the store cannot add one', async () => {
    const { questions, disk, ask } = open();
    await ask('c1');
    const [record] = disk.records;
    if (record !== undefined) for (const listener of disk.listeners) listener('late', { ...record, id: 'late' });
    expect(questions.pending().map(({ id }) => id)).toEqual([record?.id ?? '']);
  });

  test('takes the answer of another node that was stored while one was given here', async () => {
    const { questions, ask, disk, endOf } = open();
    const id = await ask('c1');
    const elsewhere = disk.answerElsewhere(id, 'denied');
    expect(await decide(questions, id, approved)).toBe(false);
    await elsewhere;
    expect(endOf('c1')).toEqual({ status: 'answered', answer: { id, decision: 'denied' } });
    expect(disk.kept.get(id)?.answer?.decision).toBe('denied');
  });
});

describe('an answer', () => {
  test('N-01 that is late, given twice, or to nothing is refused with its own code', async () => {
    const { questions, ask, clock } = open();
    const codeOf = async (id: string, more: Partial<QuestionReply> = {}) =>
      (await rejectionOf(questions.answer({ id, ...approved, ...more }))) as GoondanError;
    expect((await codeOf('never')).code).toBe('E_QUESTION_UNKNOWN');
    await ask('c1');
    await ask('c2', { key: 'k2', expiresInMs: HOUR });
    await ask('c3', { key: 'k3' });
    const [one = '', two = '', three = ''] = questions.pending().map(({ id }) => id);
    expect((await codeOf(one, { digest: 'other' })).code).toBe('E_QUESTION_CHANGED');
    expect((await codeOf(one, { content: {} })).code).toBe('E_QUESTION_REPLY');
    await questions.answer({ id: one, ...approved, via: 'chat' });
    const message = `The question "${one}" was answered by ann via chat already.`;
    expect(await codeOf(one)).toMatchObject({ code: 'E_QUESTION_ENDED', message });
    await clock.advance(HOUR);
    expect(await codeOf(two)).toMatchObject({ code: 'E_QUESTION_ENDED', message: expect.stringContaining('expired') });
    questions.turnFinished(at, { event });
    // The questions are gone, and their ends are remembered.
    expect(await codeOf(one)).toMatchObject({ code: 'E_QUESTION_ENDED', message });
    expect(await codeOf(three)).toMatchObject({
      code: 'E_QUESTION_ENDED',
      message: expect.stringContaining('withdrawn'),
    });
    const forbidden = await rejectionOf(questions.answer({ id: three, ...approved }, () => false));
    expect(forbidden).toMatchObject({ code: 'E_QUESTION_FORBIDDEN' });
  });

  test('with edited arguments reaches its turn with the arguments that the person saw', async () => {
    const { questions, ask, endOf } = open();
    await ask('c1', { args: { token: 'hunter2-hunter2' } });
    const args = { token: '***', more: 1 };
    await questions.answer({ id: questions.pending()[0]?.id ?? '', ...approved, args });
    expect(endOf('c1')).toMatchObject({ answer: { args, seen: { token: '***' } } });
  });

  test('Y-04 about a budget is also given to the other open questions about the same raise', async () => {
    const { questions, ask, endOf } = open();
    const budget = { kind: 'budget', args: { to: 4 } } as const;
    await ask('c1', budget);
    await ask('c2', budget, { at: other });
    await ask('c3', { ...budget, args: { to: 8 } }, { at: other });
    await questions.answer({ id: questions.pending()[0]?.id ?? '', ...approved });
    await settle();
    expect([endOf('c2'), endOf('c3')]).toMatchObject([{ answer: { decision: 'approved', by: 'ann' } }, undefined]);
  });

  test('N-04 to a form reaches its turn with the content, and is not shown to those who watch', async () => {
    const { questions, ask, endOf, told, disk } = open();
    const schema = { type: 'object', properties: { pin: { type: 'string' } } };
    await ask('c1', { kind: 'form', args: {}, schema, askedBy: { server: 'bank' } });
    const [form] = questions.pending();
    expect(form).toMatchObject({ kind: 'form', schema, askedBy: { server: 'bank' }, args: {} });
    const reply = { id: form?.id ?? '', digest: form?.digest ?? '', ...approved, via: 'chat', content: { pin: '1' } };
    await questions.answer(reply);
    expect(endOf('c1')).toMatchObject({ answer: { decision: 'approved', by: 'ann', content: { pin: '1' } } });
    expect(disk.records[0]?.answer).toMatchObject({ by: 'ann', via: 'chat', content: { pin: '1' } });
    expect(told.at(-1)?.outcome).toEqual({ decision: 'approved', by: 'ann', via: 'chat' });
  });

  test('N-04 to a form or a page is logged as an answer, not as an approval', async () => {
    const { questions, ask, reports } = open();
    await ask('c1', { kind: 'form', args: {}, schema: { type: 'object', properties: {} } });
    const [form] = questions.pending();
    await questions.answer({ id: form?.id ?? '', ...approved, via: 'chat', content: {} });
    await ask('c2', { key: 'page', kind: 'page', args: {}, url: 'https://a.b/' });
    const [page] = questions.pending();
    await questions.answer({ id: page?.id ?? '', decision: 'denied', by: 'bob', via: 'cli' });
    expect(reports).toEqual([
      `info approval.asked turn-e1: bash__exec waits for an answer to question ${form?.id}: Why not?`,
      `info approval.decided turn-e1: bash__exec, question ${form?.id}: answered by ann via chat.`,
      `info approval.asked turn-e1: bash__exec waits for an answer to question ${page?.id}: Why not?`,
      `info approval.decided turn-e1: bash__exec, question ${page?.id}: declined by bob via cli.`,
    ]);
  });

  test('N-01 given while the swarm was stopped is logged when the next run takes it, and once', async () => {
    const { questions, disk, ask } = open();
    await ask('c1');
    const [question] = questions.pending();
    questions.close();
    const decidedAt = '2026-01-01T00:00:05.000Z';
    for (const record of disk.records)
      disk.kept.set(record.id, { ...record, answer: { ...approved, via: 'disk', decidedAt } });
    const next = open(disk);
    expect(next.reports).toEqual([]);
    await next.ask('c2');
    await next.ask('c3');
    const answer = { ...approved, via: 'disk', afterMs: 5_000 };
    expect([next.endOf('c2'), next.endOf('c3')]).toMatchObject([{ answer }, { answer }]);
    expect(next.reports).toEqual([
      `info approval.decided turn-e1: bash__exec, approval ${question?.id}: approved by ann via disk at ${decidedAt}, and taken now.`,
    ]);
  });

  test.each([
    // The clock of the other machine is late.
    ['2025-12-31T23:59:59.000Z', 0, { decision: 'approved', afterMs: 0 }],
    ['2026-01-01T00:00:05.000Z', 25, { decision: 'expired' }],
  ])('N-01 given at %s while the swarm was stopped, and taken after %d hours: %j', async (decidedAt, hours, taken) => {
    const { questions, disk, ask, clock } = open();
    const id = await ask('c1');
    questions.close();
    for (const record of disk.records) disk.kept.set(record.id, { ...record, answer: { ...approved, decidedAt } });
    await clock.advance(hours * HOUR);
    const next = open(disk, clock);
    await next.ask('c2');
    const by = taken.decision === 'approved' ? { by: 'ann' } : {};
    expect(next.endOf('c2')).toEqual({ status: 'answered', answer: { id, ...by, ...taken } });
    const verdict = taken.decision === 'approved' ? `approved by ann at ${decidedAt}, and taken now` : 'expired';
    expect(next.reports).toEqual([`info approval.decided turn-e1: bash__exec, approval ${id}: ${verdict}.`]);
  });

  test.each<[Partial<AskFrame>, string]>([
    [{ kind: 'form', args: {} }, 'its form is not a JSON Schema'],
    [{ kind: 'form', schema: { type: 'object', properties: {} } }, 'a form and a page have no arguments'],
    [{ kind: 'page', args: {} }, 'a page has an address'],
    [{ kind: 'page', args: {}, url: 'http://example.com' }, 'must begin with https:'],
    [{ kind: 'page', args: {}, url: 'https://a.b/hunter2-hunter2' }, 'its address contains a secret'],
    [{ url: 'https://a.b/' }, 'only a page has an address'],
  ])('is never asked for by a frame that is wrong: %j', async (more, problem) => {
    const { ask, endOf } = open();
    await ask('c1', more);
    expect(endOf('c1')).toMatchObject({
      error: { code: 'E_APPROVAL_REQUEST', message: expect.stringContaining(problem) },
    });
  });
});

// Tests answers for always on two nodes over one store in memory. The test decides which node owns an instance.
import { describe, expect, test } from 'bun:test';
import type { AgentAddress, AlwaysScope, JsonObject } from '@goondan/types';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { MOST_GRANTS } from '../../questions/grant-summary.ts';
import type { QuestionStore } from '../../store/question-store.ts';
import { memoryQuestions, MemorySwarm } from '../../testing/conformance/memory-seams.ts';
import { countedIds } from '../../testing/counted-ids.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import type { AskFrame } from './asked-question.ts';
import { Questions } from './questions.ts';

const at: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
const ids = countedIds();
let calls = 0;

const frame = (more: Partial<AskFrame> = {}): AskFrame => ({
  ...{ type: 'question.ask', callId: `c${(calls += 1)}`, key: `k${calls}`, toolCallId: `t${calls}`, kind: 'call' },
  ...{ toolName: 'files__write', fingerprint: 'f1', askedBy: { extension: 'approval' }, args: { path: '/a' } },
  ...{ reason: 'It writes.', expiresInMs: 3_600_000 },
  ...more,
});

/** Opens a node. Without nodes, it is the only one, as with files. */
async function node(store: QuestionStore, owns?: () => boolean) {
  const said: ToAgent[] = [];
  const reports: string[] = [];
  const questions = new Questions({
    ...{ clock: manualClock(), ids, store, requests: await store.list(), maskFor: () => (text) => text },
    say: (_, message) => void said.push(message),
    tell: () => undefined,
    report: (_level, name, message) => void reports.push(`${name} ${message}`),
    events: { decided: () => undefined, waitsChanged: () => undefined },
    ...(owns && { nodes: { isOwned: owns, list: () => store.list() } }),
  });
  /** Asks, and returns the outcome; undefined if a person has to answer. */
  const ask = async (more: Partial<AskFrame> = {}, whose: AgentAddress = at, event = 'e1') => {
    const asked = frame(more);
    questions.ask(whose, fakeEvent('go', { id: event }), asked);
    await settle();
    const end = said.find((each) => each.type === 'question.ended' && each.callId === asked.callId);
    return end?.type === 'question.ended' && end.outcome.status === 'answered' ? end.outcome.answer : undefined;
  };
  /** Asks, and lets a person allow the call for always. Returns the id. */
  const allow = async (always: AlwaysScope, more: Partial<AskFrame> = {}, args?: JsonObject) => {
    await ask(more);
    const id = questions.pending().at(-1)?.id ?? '';
    await questions.answer({ id, decision: 'approved', by: 'ann', always, ...(args && { args }) });
    questions.taken(at, id);
    questions.turnFinished(at, { event: fakeEvent('go', { id: 'e1' }) });
    await settle();
    return id;
  };
  return { questions, ask, allow, said, reports };
}

const settle = async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
};

const memory = () => memoryQuestions(new MemorySwarm());

describe('an answer for always', () => {
  test('answers later questions about the tool in its conversation, also after a restart, and says so in the log', async () => {
    const store = memory();
    const { ask, allow, questions, reports } = await node(store);
    const id = await allow('tool');
    expect(await ask({ args: { path: '/other' } }, at, 'e2')).toEqual({
      id,
      decision: 'approved',
      by: 'ann',
      grant: id,
    });
    expect(questions.pending()).toEqual([]);
    expect(reports.at(-1)).toBe(`approval.granted files__write: always allowed by ann in ${id}.`);
    const again = await node(store);
    again.questions.dropUnless(() => false);
    await settle();
    expect(await again.ask({}, at, 'e3')).toMatchObject({ grant: id });
    expect(again.questions.grants.list()).toMatchObject([{ id, always: 'tool', by: 'ann', toolName: 'files__write' }]);
  });

  test('also answers a question that is being stored when it is given', async () => {
    const store = memory();
    const stored = Promise.withResolvers<void>();
    let isSlow = false;
    const put: QuestionStore['put'] = async (record) => {
      if (isSlow) await stored.promise;
      await store.put(record);
    };
    const { ask, questions, said } = await node({
      ...{ list: () => store.list(), put, answer: (record) => store.answer(record), remove: (id) => store.remove(id) },
      onChange: (listener) => store.onChange(listener),
    });
    await ask();
    isSlow = true;
    const later = ask({ callId: 'later' });
    const [{ id } = { id: '' }] = questions.pending();
    await questions.answer({ id, decision: 'approved', by: 'ann', always: 'tool' });
    stored.resolve();
    await later;
    await settle();
    expect(said.at(-1)).toMatchObject({ callId: 'later', outcome: { answer: { decision: 'approved', grant: id } } });
    expect(questions.pending()).toEqual([]);
  });

  test.each<[string, Partial<AskFrame>, AgentAddress]>([
    ['another conversation', {}, { ...at, instanceKey: 'other' }],
    ['another agent', {}, { ...at, agentName: 'writer' }],
    ['another tool', { toolName: 'files__delete' }, at],
    ['another layer', { askedBy: { extension: 'guard' } }, at],
    ['a server that was renamed', { askedBy: { extension: 'approval', server: 'docs' } }, at],
    ['a tool that has changed', { fingerprint: 'f2' }, at],
    ['a tool without a fingerprint', { fingerprint: undefined as never }, at],
    ['a changeset', { kind: 'change' }, at],
  ])('never leaks: %s asks again', async (_, more, whose) => {
    const { ask, allow } = await node(memory());
    await allow('tool');
    expect(await ask(more, whose, 'e2')).toBeUndefined();
    expect(await ask({}, at, 'e2')).toBeDefined();
  });

  test('for a host answers calls to this scheme, host and port with any other arguments, and no other call', async () => {
    const { ask, allow, questions } = await node(memory());
    const url = (text: string) => ({ args: { url: text, method: 'GET' } });
    // The host is that of the arguments that the person allowed.
    const id = await allow('host', url('https://asked.com/a'), url('https://example.com/a').args);
    expect(await ask({ args: { url: 'https://example.com/b?c', method: 'POST' } }, at, 'e2')).toMatchObject({
      grant: id,
    });
    expect(questions.grants.list()).toMatchObject([{ id, always: 'host', host: 'https://example.com', by: 'ann' }]);
    expect(questions.grants.list()[0]).not.toHaveProperty('args');
    for (const other of [
      'https://asked.com/a',
      'http://example.com/a',
      'https://example.com:8443/a',
      'https://www.example.com/a',
      'https://example.com.evil.com/a',
      'https://example.com@evil.com/a',
      'https://evil.com/https://example.com/a',
      'nothing',
    ])
      expect(await ask(url(other), at, 'e2')).toBeUndefined();
    expect(await ask({ args: { ...url('https://example.com/').args, next: 'https://evil.com/' } })).toBeUndefined();
    await questions.grants.revoke({ id, by: 'bob' });
    expect(await ask(url('https://example.com/b'), at, 'e3')).toBeUndefined();
  });

  test('N-04 of a client of a connection counts for its own turns only, and that of anybody else for all', async () => {
    const { questions, said } = await node(memory());
    const from = (client: string, name = 'door') =>
      fakeEvent('go', { source: { kind: 'connector', name }, auth: { client } });
    const ask = async (event = fakeEvent('go')) => {
      const asked = frame();
      questions.ask(at, event, asked);
      await settle();
      return said.some((each) => each.type === 'question.ended' && each.callId === asked.callId);
    };
    const allow = async (by: string) => {
      const id = questions.pending().at(-1)?.id ?? '';
      await questions.answer({ id, decision: 'approved', by, always: 'tool' });
    };
    expect(await ask(from('bob'))).toBe(false);
    await allow('bob@door');
    expect(await ask(from('bob'))).toBe(true);
    expect([await ask(from('ann')), await ask(from('bob', 'other')), await ask()]).toEqual([false, false, false]);
    await ask(from('ann'));
    await allow('operator');
    expect([await ask(from('ann')), await ask(from('bob', 'other')), await ask()]).toEqual([true, true, true]);
  });

  test('about a tool without a fingerprint answers nothing: nobody knows whether it is the same tool', async () => {
    const { ask, allow } = await node(memory());
    const unknown = { fingerprint: undefined as never };
    await allow('tool', unknown);
    expect(await ask(unknown, at, 'e2')).toBeUndefined();
  });

  test('stays if it cannot be removed from disk, and can be revoked again', async () => {
    const disk = memory();
    let isGone = false;
    const remove = (id: string) => (isGone ? Promise.reject(new Error('the disk is gone')) : disk.remove(id));
    const { allow, questions } = await node({ ...disk, remove });
    const id = await allow('tool');
    isGone = true;
    expect(await rejectionOf(questions.grants.revoke({ id, by: 'bob' }))).toMatchObject({
      message: 'the disk is gone',
    });
    expect(questions.grants.list()).toMatchObject([{ id }]);
    isGone = false;
    await questions.grants.revoke({ id, by: 'bob' });
    expect(questions.grants.list()).toEqual([]);
  });

  test('stays if its turn asks something else at its place after a crash', async () => {
    const { ask, allow, questions } = await node(memory());
    const id = await allow('arguments', { key: 'place' });
    questions.processGone(at);
    expect(await ask({ key: 'place', args: { path: '/b' } })).toBeUndefined();
    expect(questions.grants.list()).toMatchObject([{ id }]);
  });

  test('for arguments is valid for exactly these, or for those that the person edited', async () => {
    const { ask, allow, questions } = await node(memory());
    const id = await allow('arguments');
    expect(await ask({ args: { path: '/b' } }, at, 'e2')).toBeUndefined();
    expect(await ask({}, at, 'e2')).toMatchObject({ grant: id });
    const edited = await allow('arguments', { args: { path: '/c' } }, { path: '/mine' });
    expect(await ask({ args: { path: '/c' } }, at, 'e3')).toBeUndefined();
    expect(await ask({ args: { path: '/mine' } }, at, 'e3')).toMatchObject({ grant: edited });
    expect(questions.grants.list().map(({ args }) => args)).toEqual([{ path: '/a' }, { path: '/mine' }]);
  });

  test('can be revoked, once, and ends with its conversation', async () => {
    const store = memory();
    const { ask, allow, questions, reports } = await node(store);
    const id = await allow('tool');
    const revoked = questions.grants.revoke({ id, by: 'bob', via: 'cli' });
    // A question that is asked while the grant is being removed does not get it.
    expect(await ask({}, at, 'e2')).toBeUndefined();
    await revoked;
    const logged = `approval.revoked files__write is asked about again: ${id} was revoked by bob via cli.`;
    expect(reports).toContain(logged);
    const again = {
      code: 'E_QUESTION_ENDED',
      message: `The question "${id}" was answered for always by ann, which was revoked by bob already.`,
    };
    expect(await rejectionOf(questions.grants.revoke({ id, by: 'bob' }))).toMatchObject(again);
    expect(await rejectionOf(questions.answer({ id, decision: 'denied', by: 'eve' }))).toMatchObject(again);
    // A question that ended otherwise was never allowed for always.
    const [{ id: ended } = { id: '' }] = questions.pending();
    questions.turnFinished(at, { event: fakeEvent('go', { id: 'e2' }) });
    for (const unknown of ['never', ended]) {
      const refused = questions.grants.revoke({ id: unknown, by: 'bob' });
      expect(await rejectionOf(refused)).toMatchObject({ code: 'E_QUESTION_UNKNOWN' });
    }
    await allow('tool', { toolName: 'files__delete' });
    await questions.grants.end({ ...at, instanceKey: 'other' });
    expect(questions.grants.list()).toHaveLength(1);
    await questions.grants.end(at);
    expect([questions.grants.list(), (await store.list()).filter(({ answer }) => answer)]).toEqual([[], []]);
  });

  test(`is one of at most ${MOST_GRANTS} of a conversation, which count as no open questions`, async () => {
    const { allow, questions, ask } = await node(memory());
    for (let number = 0; number < MOST_GRANTS; number += 1) await allow('arguments', { args: { number } });
    await ask({ args: { more: true } }, at, 'e2');
    const [{ id } = { id: '' }] = questions.pending();
    const reply = { id, decision: 'approved', by: 'ann' } as const;
    const refused = await rejectionOf(questions.answer({ ...reply, always: 'tool' }));
    expect(refused).toMatchObject({ code: 'E_QUESTION_REPLY', message: expect.stringContaining('64 answers') });
    await questions.answer(reply);
  });

  test('S-03 given at one node is used at another, and revoked at one it is used at none, even before they heard of it', async () => {
    const store = memory();
    let owner = 'b';
    const a = await node(store, () => owner === 'a');
    const b = await node(store, () => owner === 'b');
    await b.ask();
    const id = a.questions.pending()[0]?.id ?? '';
    await a.questions.answer({ id, decision: 'approved', by: 'ann', always: 'tool' });
    b.questions.taken(at, id);
    await settle();
    expect(await b.ask({}, at, 'e2')).toMatchObject({ grant: id });
    owner = 'a';
    b.questions.moved(at);
    expect(await a.ask({}, at, 'e3')).toMatchObject({ grant: id });
    // A node that hears nothing of changes.
    const deaf = await node({ ...store, onChange: () => () => undefined }, () => owner === 'deaf');
    await b.questions.grants.revoke({ id, by: 'bob' });
    // The owner of the conversation hears of it.
    expect(a.questions.grants.list()).toEqual([]);
    const again = a.questions.grants.revoke({ id, by: 'eve' });
    expect(await rejectionOf(again)).toMatchObject({
      code: 'E_QUESTION_ENDED',
      message: expect.stringContaining('revoked'),
    });
    owner = 'deaf';
    expect(deaf.questions.grants.list()).toHaveLength(1);
    expect(await deaf.ask({}, at, 'e4')).toBeUndefined();
    expect([a, b, deaf].map(({ questions }) => questions.grants.list())).toEqual([[], [], []]);
  });

  test('also answers the questions that are open when it is given, if it allows them, and no others', async () => {
    const store = memory();
    const { ask, questions, said, reports } = await node(store);
    await ask();
    await ask({ callId: 'twin', args: { path: '/b' } });
    await ask({ toolName: 'files__delete' });
    await ask({}, { ...at, instanceKey: 'other' });
    const [first, twin, ...others] = questions.pending();
    const id = first?.id ?? '';
    await questions.answer({ id, digest: first?.digest ?? '', decision: 'approved', by: 'ann', always: 'tool' });
    await settle();
    expect(questions.pending()).toEqual(others);
    const answer = { id: twin?.id ?? '', decision: 'approved', by: 'ann', grant: id } as const;
    const outcome = { status: 'answered', answer } as const;
    expect(said).toContainEqual({ type: 'question.ended', callId: 'twin', outcome });
    expect(reports.at(-1)).toEndWith(`approved by ann, always allowed in ${id}.`);
    // It is a plain answer, which is removed when its turn has taken it.
    expect(questions.grants.list()).toHaveLength(1);
    questions.taken(at, answer.id);
    await settle();
    expect((await store.list()).map((each) => each.id)).not.toContain(answer.id);
  });

  test('ends with its conversation, also if the disk failed before, or only another node has heard of it', async () => {
    const store = memory();
    let isBroken = true;
    const remove = (id: string) => (isBroken ? Promise.reject(new Error('The disk is full.')) : store.remove(id));
    const failing = await node({ ...store, remove });
    await failing.allow('tool');
    expect(await rejectionOf(failing.questions.grants.end(at))).toMatchObject({ message: 'The disk is full.' });
    isBroken = false;
    await failing.questions.grants.end(at);
    expect(await store.list()).toEqual([]);
    const shared = memory();
    const deaf = await node({ ...shared, onChange: () => () => undefined }, () => true);
    await (await node(shared)).allow('tool');
    await deaf.questions.grants.end(at);
    expect(await shared.list()).toEqual([]);
  });
});

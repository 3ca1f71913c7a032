// Tests requests for approval on several nodes over one store in memory. The test decides which node owns an instance.
import { describe, expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { memoryQuestions, MemorySwarm } from '../../testing/conformance/memory-seams.ts';
import { countedIds } from '../../testing/counted-ids.ts';
import { decide } from '../../testing/decide-question.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import type { AskFrame } from './asked-question.ts';
import { Questions } from './questions.ts';

const HOUR = 3_600_000;
const at: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
const event = fakeEvent('go', { id: 'e1' });

async function openNodes() {
  const clock = manualClock();
  const swarm = new MemorySwarm();
  let owner = 'one';
  const ids = countedIds();
  const open = async (node: string) => {
    const store = memoryQuestions(swarm);
    const said: ToAgent[] = [];
    const told: string[] = [];
    const changes = { count: 0 };
    const questions = new Questions({
      clock,
      ids,
      store,
      requests: await store.list(),
      events: { decided: () => void told.push('decided'), waitsChanged: () => void (changes.count += 1) },
      report: (_, name) => void told.push(name),
      nodes: { isOwned: () => owner === node, list: () => store.list() },
      say: (_, message) => void said.push(message),
      tell: (notice) => void told.push(notice().state),
      maskFor: () => (text) => text,
    });
    const ask = async (callId: string) => {
      const frame: AskFrame = {
        type: 'question.ask',
        callId,
        key: 'k',
        toolCallId: 'c',
        toolName: 'bash',
        kind: 'call',
        args: { command: 'rm' },
        reason: 'it deletes',
        expiresInMs: HOUR,
      };
      questions.ask(at, event, frame);
      await clock.advance(0);
    };
    return { questions, said, told, changes, ask };
  };
  const nodes = { one: await open('one'), two: await open('two') };
  return { clock, swarm, ...nodes, open, moveTo: (node: string) => void (owner = node) };
}

describe('requests of several nodes', () => {
  test('are listed at every node, answered at any of them, and told by the owner only', async () => {
    const { one, two, swarm } = await openNodes();
    await one.ask('call');
    const [listed] = two.questions.pending();
    expect(two.questions.asking()).toEqual([at]);
    expect(two.questions.notices()).toEqual([]);
    expect(await decide(two.questions, listed?.id ?? '', { decision: 'approved', by: 'ann' })).toBe(true);
    expect(one.said).toMatchObject([
      { type: 'question.ended', outcome: { answer: { decision: 'approved', by: 'ann' } } },
    ]);
    expect([two.said, two.told]).toEqual([[], []]);
    expect(one.told.filter((each) => each === 'decided')).toHaveLength(2);
    const before = two.changes.count;
    one.questions.taken(at, listed?.id ?? '');
    await Bun.sleep(0);
    expect(swarm.questions.size).toBe(0);
    expect(two.changes.count).toBe(before + 1);
    expect(two.questions.pending()).toEqual([]);
    expect(two.questions.asking()).toEqual([]);
  });

  test('N-01 that have ended refuse a late answer in the same words at every node', async () => {
    const { one, two } = await openNodes();
    await one.ask('call');
    const id = one.questions.pending()[0]?.id ?? '';
    await one.questions.answer({ id, decision: 'approved', by: 'ann' });
    one.questions.taken(at, id);
    await Bun.sleep(0);
    for (const { questions } of [one, two])
      expect(await rejectionOf(questions.answer({ id, decision: 'denied', by: 'bob' }))).toMatchObject({
        code: 'E_QUESTION_ENDED',
        message: `The question "${id}" was answered by ann already.`,
      });
  });

  test('S-03 are answered, even if the owner has used the answer before the other node knows that it is stored', async () => {
    const { one, two, swarm } = await openNodes();
    await one.ask('call');
    const [listed] = two.questions.pending();
    swarm.questionListeners.add((id, record) => {
      if (record?.answer !== undefined) one.questions.taken(at, id);
    });
    expect(await decide(two.questions, listed?.id ?? '', { decision: 'approved' })).toBe(true);
    expect(one.said).toMatchObject([{ outcome: { answer: { decision: 'approved' } } }]);
    expect(swarm.questions.size).toBe(0);
    const late = two.questions.answer({ id: listed?.id ?? '', decision: 'denied', by: 'bob' });
    expect(await rejectionOf(late)).toMatchObject({ message: expect.stringContaining('was answered by') });
  });

  test('S-03 that another node answers before the owner knows that they are stored reach their turn', async () => {
    const { one, two, swarm } = await openNodes();
    const answers: Promise<boolean>[] = [];
    swarm.questionListeners.add((id, record) => {
      if (record !== undefined && record.answer === undefined)
        answers.push(decide(two.questions, id, { decision: 'approved' }));
    });
    await one.ask('call');
    expect(await Promise.all(answers)).toEqual([true]);
    expect(one.said).toMatchObject([{ callId: 'call', outcome: { answer: { decision: 'approved' } } }]);
    expect(one.questions.pending()).toEqual([]);
  });

  test('S-03 that another node answers are not listed at a node that lost their instance while it stored them', async () => {
    const { one, two, swarm, moveTo } = await openNodes();
    const answers: Promise<boolean>[] = [];
    swarm.questionListeners.add((id, record) => {
      if (record === undefined || record.answer !== undefined) return;
      moveTo('two');
      answers.push(decide(two.questions, id, { decision: 'approved' }));
    });
    await one.ask('call');
    expect(await Promise.all(answers)).toEqual([true]);
    expect([one.questions.pending(), one.told]).toEqual([[], []]);
  });

  test('S-03 of a node that died stay open, and the resumed turn joins them at the next node', async () => {
    const { one, two, swarm, moveTo } = await openNodes();
    await one.ask('call');
    one.questions.close();
    moveTo('two');
    two.questions.own(at);
    const [listed] = two.questions.pending();
    await two.ask('again');
    expect(swarm.questions.size).toBe(1);
    await decide(two.questions, listed?.id ?? '', { decision: 'denied' });
    expect(two.said).toMatchObject([{ callId: 'again', outcome: { answer: { decision: 'denied' } } }]);
  });

  test('S-03 of which the next node has not heard yet are read from the store before another one is asked', async () => {
    const { one, two, swarm, moveTo } = await openNodes();
    swarm.questionListeners.clear();
    await one.ask('call');
    expect(two.questions.pending()).toEqual([]);
    moveTo('two');
    await two.ask('again');
    expect(swarm.questions.size).toBe(1);
    expect(two.questions.pending()).toHaveLength(1);
  });

  test('expire once, at the owner; elsewhere they are only no longer listed', async () => {
    const { one, two, clock } = await openNodes();
    await one.ask('call');
    const [listed] = two.questions.pending();
    await clock.advance(HOUR + 1);
    expect(two.questions.pending()).toEqual([]);
    expect(await decide(two.questions, listed?.id ?? '', { decision: 'approved' })).toBe(false);
    expect(two.told).toEqual([]);
    expect(one.said).toMatchObject([{ outcome: { answer: { decision: 'expired' } } }]);
  });

  test('expire at the next owner, if the node before has died', async () => {
    const { one, two, clock, moveTo } = await openNodes();
    await one.ask('call');
    one.questions.close();
    moveTo('nobody');
    await clock.advance(HOUR + 1);
    // Nobody owns it now, so that this only leaves it out.
    expect(two.questions.pending()).toEqual([]);
    expect(two.told).toEqual([]);
    moveTo('two');
    await two.ask('again');
    expect(two.questions.pending()).toEqual([]);
    expect(two.told).toEqual(['approval.decided', 'decided', 'decided']);
    two.questions.own(at);
    await clock.advance(1);
    await two.ask('once more');
    expect(two.said).toMatchObject([{ outcome: { answer: { decision: 'expired' } } }, { callId: 'once more' }]);
  });
});

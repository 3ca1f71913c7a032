// Tests requests for approval on several nodes over one store in memory. The test decides which node owns an instance.
import { describe, expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { memoryApprovals, MemorySwarm } from '../../testing/conformance/memory-seams.ts';
import { countedIds } from '../../testing/counted-ids.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import type { AskFrame } from './approval-question.ts';
import { Approvals } from './approvals.ts';

const HOUR = 3_600_000;
const at: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
const event = fakeEvent('go', { id: 'e1' });

async function openNodes() {
  const clock = manualClock();
  const swarm = new MemorySwarm();
  let owner = 'one';
  const ids = countedIds();
  const open = async (node: string) => {
    const store = memoryApprovals(swarm);
    const said: ToAgent[] = [];
    const told: string[] = [];
    const approvals = new Approvals({
      clock,
      ids,
      store,
      requests: await store.list(),
      events: { decided: () => void told.push('decided'), waitsChanged: () => undefined },
      report: (_, name) => void told.push(name),
      nodes: { isOwned: () => owner === node, list: () => store.list() },
      say: (_, message) => void said.push(message),
      tell: (notice) => void told.push(notice().state),
      maskFor: () => (text) => text,
    });
    const ask = async (callId: string) => {
      const frame: AskFrame = {
        type: 'approval.ask',
        callId,
        key: 'k',
        toolCallId: 'c',
        toolName: 'bash',
        args: { command: 'rm' },
        reason: 'it deletes',
        expiresInMs: HOUR,
      };
      approvals.ask(at, event, frame);
      await clock.advance(0);
    };
    return { approvals, said, told, ask };
  };
  const nodes = { one: await open('one'), two: await open('two') };
  return { clock, swarm, ...nodes, open, moveTo: (node: string) => void (owner = node) };
}

describe('requests of several nodes', () => {
  test('are listed at every node, answered at any of them, and told by the owner only', async () => {
    const { one, two, swarm } = await openNodes();
    await one.ask('call');
    const [listed] = two.approvals.pending();
    expect(two.approvals.asking()).toEqual([at]);
    expect(two.approvals.notices()).toEqual([]);
    expect(await two.approvals.decide(listed?.id ?? '', { decision: 'approved', by: 'ann' })).toBe(true);
    expect(one.said).toMatchObject([
      { type: 'approval.ended', outcome: { answer: { decision: 'approved', by: 'ann' } } },
    ]);
    expect([two.said, two.told]).toEqual([[], []]);
    expect(one.told.filter((each) => each === 'decided')).toHaveLength(2);
    one.approvals.taken(at, listed?.id ?? '');
    await Bun.sleep(0);
    expect(swarm.approvals.size).toBe(0);
    expect(two.approvals.pending()).toEqual([]);
    expect(two.approvals.asking()).toEqual([]);
  });

  test('S-03 of a node that died stay open, and the resumed turn joins them at the next node', async () => {
    const { one, two, swarm, moveTo } = await openNodes();
    await one.ask('call');
    one.approvals.close();
    moveTo('two');
    two.approvals.own(at);
    const [listed] = two.approvals.pending();
    await two.ask('again');
    expect(swarm.approvals.size).toBe(1);
    await two.approvals.decide(listed?.id ?? '', { decision: 'denied' });
    expect(two.said).toMatchObject([{ callId: 'again', outcome: { answer: { decision: 'denied' } } }]);
  });

  test('S-03 of which the next node has not heard yet are read from the store before another one is asked', async () => {
    const { one, two, swarm, moveTo } = await openNodes();
    swarm.approvalListeners.clear();
    await one.ask('call');
    expect(two.approvals.pending()).toEqual([]);
    moveTo('two');
    await two.ask('again');
    expect(swarm.approvals.size).toBe(1);
    expect(two.approvals.pending()).toHaveLength(1);
  });

  test('expire once, at the owner; elsewhere they are only no longer listed', async () => {
    const { one, two, clock } = await openNodes();
    await one.ask('call');
    const [listed] = two.approvals.pending();
    await clock.advance(HOUR + 1);
    expect(two.approvals.pending()).toEqual([]);
    expect(await two.approvals.decide(listed?.id ?? '', { decision: 'approved' })).toBe(false);
    expect(two.told).toEqual([]);
    expect(one.said).toMatchObject([{ outcome: { answer: { decision: 'expired' } } }]);
  });

  test('expire at the next owner, if the node before has died', async () => {
    const { one, two, clock, moveTo } = await openNodes();
    await one.ask('call');
    one.approvals.close();
    moveTo('nobody');
    await clock.advance(HOUR + 1);
    expect(two.told).toEqual([]);
    moveTo('two');
    await two.ask('again');
    expect(two.approvals.pending()).toEqual([]);
    two.approvals.own(at);
    await clock.advance(1);
    await two.ask('once more');
    expect(two.said).toMatchObject([{ outcome: { answer: { decision: 'expired' } } }, { callId: 'once more' }]);
  });
});

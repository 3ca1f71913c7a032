import { expect, test } from 'bun:test';
import type { BundleOfNode, ClusterNode } from '@goondan/runtime/history';
import { manualClock } from '../../../runtime/src/testing/manual-clock.ts';
import { awaitNodes, type NodeReply } from './await-nodes.ts';

function node(name: string, bundle?: BundleOfNode): ClusterNode {
  const facts = { name, since: new Date(0), version: '1.0.0', load: 0, instances: 0, isDraining: false };
  return bundle === undefined ? facts : { ...facts, bundle };
}

const refused = { digest: 'new', problem: 'It is not valid.' };

/** Waits while each look at the nodes finds the next list; the last one stays. */
async function waitFor(lists: readonly (readonly ClusterNode[])[], signal?: AbortSignal) {
  const clock = manualClock();
  const told: NodeReply[] = [];
  let looks = 0;
  const nodes = async () => {
    // The pause after this look ends at once.
    setTimeout(() => void clock.advance(200));
    return lists[Math.min(looks++, lists.length - 1)] ?? [];
  };
  const onReply = (reply: NodeReply) => void told.push(reply);
  const replies = await awaitNodes('new', { nodes, onReply, clock, ...(signal && { signal }) });
  return { replies, told, looks };
}

test('waits until every node has taken or refused the bundle, and tells each once', async () => {
  const one = { digest: 'new' };
  const { replies, told, looks } = await waitFor([
    [node('two'), node('one', { digest: 'old' })],
    [node('two'), node('one', one)],
    [node('two', { digest: 'old', refused }), node('one', one)],
  ]);
  const [taken, no] = [
    { node: 'one', state: 'taken' },
    { node: 'two', state: 'refused', problem: 'It is not valid.' },
  ] as const;
  expect(replies).toEqual([taken, no]);
  expect(told).toEqual([taken, no]);
  expect(looks).toBe(3);
});

test('does not wait for a node that has ended, nor for an older refusal', async () => {
  const other = { digest: 'old', refused: { digest: 'older', problem: 'x' } };
  const { replies } = await waitFor([
    [node('one', { digest: 'new' }), node('two', other)],
    [node('one', { digest: 'new' })],
  ]);
  expect(replies).toEqual([{ node: 'one', state: 'taken' }]);
});

test('ends after a minute with the nodes that have not answered', async () => {
  const { replies, looks } = await waitFor([[node('one', { digest: 'old' })]]);
  expect(replies).toEqual([{ node: 'one', state: 'waiting' }]);
  expect(looks).toBe(301);
});

test('ends at Ctrl-C, and says that the bundle is deployed', async () => {
  const error = await waitFor([[node('one')]], AbortSignal.abort()).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'E_CANCELLED', message: expect.stringContaining('is deployed') });
});

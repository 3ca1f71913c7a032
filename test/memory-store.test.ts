// A complete check of a store, as docs/writing-a-store.md prints it.
import { describe, test } from 'bun:test';
import {
  questionConformance,
  counterConformance,
  inboxConformance,
  memoryAnswers,
  memoryQuestions,
  memoryConversations,
  memoryCounters,
  memoryInbox,
  memoryPlacement,
  MemorySwarm,
  placementConformance,
  storeConformance,
} from '@goondan/runtime/testing';

/** Makes the parts to check. Replace each with that of your store. */
function seamsOf(swarm: MemorySwarm) {
  return {
    conversations: memoryConversations(swarm),
    inbox: memoryInbox(swarm, 'one'),
    answers: memoryAnswers(swarm),
    questions: memoryQuestions(swarm),
    elsewhere: async () => memoryQuestions(swarm),
    join: async (name: string) => memoryPlacement(swarm, name),
    takeAway: async ({ node }: { readonly node: string }) => void swarm.nodes.delete(node),
  };
}

describe('a store in memory conforms', () => {
  // Nothing is lost when a process ends, because the swarm object stays.
  const open = async () => {
    const swarm = new MemorySwarm();
    const seams = seamsOf(swarm);
    return { seams, again: async () => seams, end: async () => undefined };
  };
  /** Opens counters at a node. `again` is another node, after the first one has ended. */
  const openCounters = async () => {
    const swarm = new MemorySwarm();
    const joinAs = (node: string) => (memoryPlacement(swarm, node), { counters: memoryCounters(swarm, node) });
    const again = async () => (swarm.nodes.delete('one'), joinAs('two'));
    return { seams: joinAs('one'), again, end: async () => undefined };
  };
  describe('conversations', () => storeConformance(test, open));
  describe('inbox', () => inboxConformance(test, open));
  describe('placement', () => placementConformance(test, open));
  describe('questions', () => questionConformance(test, open));
  describe('counters', () => counterConformance(test, openCounters));
});

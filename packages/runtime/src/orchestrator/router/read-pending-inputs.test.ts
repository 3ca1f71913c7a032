import { expect, test } from 'bun:test';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { simpleEvent } from '../../workspace/simulation/simulated-turn.ts';
import { giveUpRequests, type PendingInput, readPendingInputs } from './read-pending-inputs.ts';

const at = (agentName: string): AgentAddress => ({ agentName, instanceKey: 'default' });

function input(agentName: string, callers: readonly string[], cancelled?: string): PendingInput {
  const event = simpleEvent(`of-${agentName}`, callers.length === 0 ? {} : { callChain: callers.map(at) });
  return { address: at(agentName), entries: [{ seq: 1, event, ...(cancelled === undefined ? {} : { cancelled }) }] };
}

/** Returns, for each agent, the reason why its event is cancelled; undefined if it is not. */
const reasons = (inputs: readonly PendingInput[]) =>
  Object.fromEntries(giveUpRequests(inputs).map(({ address, entries }) => [address.agentName, entries[0]?.cancelled]));

test('requests of a cancelled turn are given up, and so are the requests of their turns', () => {
  const inputs = [input('a', [], 'enough'), input('b', ['a']), input('c', ['a', 'b']), input('d', [])];
  const over = 'the turn that asked is over';
  expect(reasons(inputs)).toEqual({ a: 'enough', b: over, c: over, d: undefined });
});

test('requests of a turn that continues are kept', () => {
  expect(reasons([input('a', []), input('b', ['a'])])).toEqual({ a: undefined, b: undefined });
});

test('the request of a finished turn is given up', () => {
  expect(reasons([{ address: at('a'), entries: [] }, input('b', ['a'])])).toMatchObject({ b: expect.any(String) });
});

test('the request of a caller with an unreadable inbox is kept: its turn may continue', () => {
  const problem = { code: 'E_STORE_CORRUPT', message: 'damaged' } as const;
  const inputs = [{ address: at('a'), entries: [], problem }, input('b', ['a']), input('c', ['a', 'b'])];
  expect(reasons(inputs)).toEqual({ a: undefined, b: undefined, c: undefined });
});

test('another cancelled event of the caller is not the asking turn', () => {
  const caller = input('a', []);
  const waiting = { seq: 2, event: simpleEvent('later'), cancelled: 'enough' };
  const inputs = [{ ...caller, entries: [...caller.entries, waiting] }, input('b', ['a'])];
  expect(reasons(inputs)).toEqual({ a: undefined, b: undefined });
});

test('an inbox that cannot be read is returned with its problem, and the others with their events', async () => {
  const { entries } = input('b', []);
  const inputs = await readPendingInputs({
    instances: async () => [at('a'), at('b')],
    pendingEntries: async ({ agentName }) => {
      if (agentName === 'a') throw new GoondanError('E_STORE_CORRUPT', 'damaged');
      return entries;
    },
  });
  expect(inputs).toMatchObject([
    { address: at('a'), entries: [], problem: { code: 'E_STORE_CORRUPT', message: 'damaged' } },
    { address: at('b'), entries },
  ]);
});

// Tests that the queue for processes is fair. The tests need no clock: they count the starts of processes.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { inFairOrder } from './fair-line.ts';
import { planSlots, type ProcessCondition, type SlotDemand, type SlotHolder } from './process-slots.ts';

/** A key has the form `agent/number`. A `!` at its end marks input from a person. */
const agentOf = (key: string) => key.split('/')[0] ?? key;
const isForPerson = (key: string) => key.endsWith('!');
const keys = (agent: string, count: number) => Array.from({ length: count }, (_, index) => `${agent}/${index}`);
const hold = (condition: ProcessCondition, held: readonly string[]): SlotHolder[] =>
  held.map((key, index) => ({ key, condition, ...(condition === 'idle' ? { idleSince: index } : {}) }));

const plan = (holders: readonly SlotHolder[], line: readonly string[], more: Partial<SlotDemand> = {}) =>
  planSlots({
    holders,
    line: new Set(line),
    isAwaited: () => false,
    agentOf,
    isForPerson,
    maxProcesses: 64,
    ...more,
  });

const order = (line: readonly string[], processes: Record<string, number> = {}, peopleInARow = 0) =>
  [...inFairOrder({ line: new Set(line), agentOf, isForPerson, peopleInARow }, new Map(Object.entries(processes)))].map(
    ({ key }) => key,
  );

describe('the line for processes', () => {
  test('people come before agents, in any order of arrival', () => {
    expect(order(['x/0', 'x/1', 'y/0!', 'x/2', 'x/3!'])).toEqual(['y/0!', 'x/3!', 'x/0', 'x/1', 'x/2']);
  });

  test('after eight people in a row an agent’s input gets a process', () => {
    const people = Array.from({ length: 10 }, (_, index) => `p${index}/0!`);
    expect(order(['x/0', 'x/1', ...people]).indexOf('x/0')).toBe(8);
    expect(order(['x/0', 'x/1', ...people], {}, 8).indexOf('x/0')).toBe(0);
  });

  test('the agent with the fewest processes comes first, then the first in line', () => {
    expect(order(['x/0', 'x/1', 'x/2', 'y/0', 'z/0'], { x: 2, y: 1 })).toEqual(['z/0', 'y/0', 'x/0', 'x/1', 'x/2']);
    expect(order(['x/0', 'x/1', 'y/0', 'y/1'])).toEqual(['x/0', 'y/0', 'x/1', 'y/1']);
  });
});

describe('a process that is ending', () => {
  test('does not count as a process of its agent', () => {
    const holders = [...hold('stopping', ['x/0']), ...hold('working', ['y/0'])];
    expect(plan(holders, ['y/1', 'x/1'], { maxProcesses: 3 }).start).toEqual(['x/1']);
  });
});

describe('the last process of an agent', () => {
  const helper = hold('idle', ['helper/0']);

  test('is not ended for the sixty-fourth of another agent', () => {
    const holders = [...helper, ...hold('working', keys('spammer', 63))];
    expect(plan(holders, ['spammer/63']).hibernate).toEqual([]);
    expect(plan(holders, ['spammer/63!']).hibernate).toEqual([]);
  });

  test('is not ended when several agents fill the slots together', () => {
    const busy = ['x', 'y', 'z'].flatMap((agent) => hold('working', keys(agent, 21)));
    expect(plan([...helper, ...busy], ['x/21', 'y/21']).hibernate).toEqual([]);
  });

  test('is ended for an agent without processes, and for a person who waits for an agent with few', () => {
    const holders = [...helper, ...hold('working', keys('spammer', 63))];
    expect(plan(holders, ['other/0']).hibernate).toEqual(['helper/0']);
    const small = [...helper, ...hold('working', ['x/0'])];
    expect(plan(small, ['x/1'], { maxProcesses: 2 }).hibernate).toEqual([]);
    expect(plan(small, ['x/1!'], { maxProcesses: 2 }).hibernate).toEqual(['helper/0']);
    expect(plan(small, ['x/1'], { maxProcesses: 2, isAwaited: () => true }).hibernate).toEqual(['helper/0']);
  });

  test('is ended after those of agents with several, however long it is idle', () => {
    const holders = [...helper, ...hold('idle', keys('x', 3))];
    expect(plan(holders, ['y/0', 'z/0'], { maxProcesses: 4 }).hibernate).toEqual(['x/0', 'x/1']);
    expect(plan(holders, ['x/7'], { maxProcesses: 4 }).hibernate).toEqual(['x/0']);
  });

  test('is ended when nothing else can continue', () => {
    const holders = [...helper, ...hold('waiting', keys('x', 3))];
    expect(plan(holders, ['x/7'], { maxProcesses: 4, isAwaited: () => true })).toMatchObject({
      start: [],
      hibernate: ['helper/0'],
    });
    const busy = [...helper, ...hold('waiting', keys('x', 2)), ...hold('working', ['x/2'])];
    expect(plan(busy, ['x/7'], { maxProcesses: 4 }).hibernate).toEqual([]);
  });
});

/** Simulates, step by step, processes that start, work and become idle. Input may arrive at any step. */
class Slots {
  readonly holders = new Map<string, { condition: ProcessCondition; idleSince: number }>();
  readonly line = new Set<string>();
  readonly starts: string[] = [];
  #peopleInARow = 0;
  #now = 0;

  constructor(readonly maxProcesses: number) {}

  /** Requests a process for an instance. Returns false when no start is needed. */
  ask(key: string): boolean {
    const holder = this.holders.get(key);
    if (holder === undefined) this.line.add(key);
    else if (holder.condition === 'idle') holder.condition = 'working';
    this.plan();
    return holder === undefined;
  }

  plan(): void {
    const holders = [...this.holders].map(([key, holder]) => ({ key, ...holder }));
    const demand = { holders, line: this.line, isAwaited: () => false, agentOf, isForPerson };
    const { start, hibernate } = planSlots({
      ...demand,
      maxProcesses: this.maxProcesses,
      peopleInARow: this.#peopleInARow,
    });
    for (const key of start) {
      this.#peopleInARow = isForPerson(key) ? this.#peopleInARow + 1 : 0;
      this.line.delete(key);
      this.starts.push(key);
      this.holders.set(key, { condition: 'working', idleSince: 0 });
    }
    for (const key of hibernate) {
      expect(this.holders.get(key)?.condition).toBe('idle');
      this.holders.set(key, { condition: 'stopping', idleSince: 0 });
    }
    expect(this.holders.size).toBeLessThanOrEqual(this.maxProcesses);
  }

  /** Advances one process by a step. Returns false when none can advance. */
  advance(choose: number): boolean {
    const moving = [...this.holders].filter(([, { condition }]) => condition !== 'idle');
    const [key, holder] = moving[choose % Math.max(1, moving.length)] ?? [];
    if (key === undefined || holder === undefined) return false;
    if (holder.condition === 'stopping') this.holders.delete(key);
    else Object.assign(holder, { condition: 'idle', idleSince: ++this.#now });
    this.plan();
    return true;
  }
}

describe('a swarm with too few processes', () => {
  test('a person waits for at most one start of another agent’s process, while one agent has 240 in line', () => {
    const slots = new Slots(64);
    slots.ask('helper/0!');
    slots.advance(0);
    for (const key of keys('spammer', 240)) slots.ask(key);
    for (let step = 0; step < 40; step++) slots.advance(step * 7);
    // The agent has an idle process, so no start is needed.
    expect(slots.ask('helper/0!')).toBe(false);
    // An agent without a process gets the next start.
    const before = slots.starts.length;
    expect(slots.ask('other/0!')).toBe(true);
    for (let step = 0; !slots.starts.includes('other/0!'); step++) slots.advance(step * 11);
    expect(slots.starts.indexOf('other/0!') - before).toBeLessThanOrEqual(1);
  });

  test('with any input: every wait ends, and there are never more than maxProcesses', () => {
    const asked = fc.record({
      agent: fc.constantFrom('a', 'b', 'c', 'd'),
      number: fc.nat(30),
      isPerson: fc.boolean(),
      steps: fc.array(fc.nat(100), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (inputs, maxProcesses) => {
        const slots = new Slots(maxProcesses);
        for (const { agent, number, isPerson, steps } of inputs) {
          slots.ask(`${agent}/${number}${isPerson ? '!' : ''}`);
          for (const step of steps) slots.advance(step);
        }
        for (let step = 0; slots.line.size > 0; step++) {
          expect(slots.advance(step)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('an agent’s input gets its process although people keep coming', () => {
    const slots = new Slots(2);
    for (let number = 0; number < 5; number++) slots.ask(`p/${number}!`);
    slots.ask('x/0');
    for (let number = 5; !slots.starts.includes('x/0'); number++) {
      expect(number).toBeLessThan(60);
      slots.ask(`p/${number}!`);
      slots.advance(number);
      slots.advance(number);
    }
    expect(slots.starts.indexOf('x/0')).toBeLessThanOrEqual(9);
  });
});

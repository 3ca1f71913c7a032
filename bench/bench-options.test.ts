import { describe, expect, test } from 'bun:test';
import { readBenchOptions } from './bench-options.ts';

const read = (...args: string[]) => readBenchOptions(args, ['onion', 'turn', 'swarm'], ['swarm', 'onion']);

describe('the arguments of npm run bench', () => {
  test('without a section all sections run', () => {
    expect(read()).toEqual({
      sections: ['onion', 'turn', 'swarm'],
      runs: 1,
      conversations: [1_000],
      shared: [1_000, 10_000],
    });
  });

  test('sections run in their own order', () => {
    expect(read('swarm', 'onion').sections).toEqual(['onion', 'swarm']);
  });

  test('targets runs the sections that its table needs', () => {
    expect(read('targets').sections).toEqual(['onion', 'swarm']);
    expect(read('targets', 'turn').sections).toEqual(['onion', 'turn', 'swarm']);
  });

  test('an option takes whole numbers', () => {
    expect(read('--conversations', '10,20', 'turn', '--runs', '3')).toMatchObject({
      sections: ['turn'],
      runs: 3,
      conversations: [10, 20],
    });
  });

  test.each([
    [['turns'], 'There is no section "turns"; there are targets, onion, turn, swarm.'],
    [['--fast'], 'There is no option "--fast"'],
    [['--runs'], '--runs needs whole numbers above 0, and got "".'],
    [['--runs', '0'], '--runs needs whole numbers above 0, and got "0".'],
    [['--shared', '10,x'], '--shared needs whole numbers above 0, and got "10,x".'],
  ])('%p is refused', (args, problem) => {
    expect(() => read(...args)).toThrow(problem);
  });
});

import { expect, test } from 'bun:test';
import { samples } from '../../../../../test/samples.ts';
import { simulateLogFaults, simulateLogFile } from './simulate-log-file.ts';

const SEEDS = samples(100, 34);

test.each(['quick', 'slow', 'changing'] as const)(
  'a log file on a disk that is %s, killed or without power at any operation and again during recovery: every durable frame is left, and nothing else comes back',
  async (pace) => {
    let tried = 0;
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const { crashPoints, problems } = await simulateLogFile(seed, pace);
      tried += crashPoints;
      expect(problems).toEqual([]);
    }
    expect(tried).toBeGreaterThan(SEEDS * 50);
  },
  60_000,
);

test.each([
  ['ENOSPC', 1, 'quick'],
  ['EIO', 1, 'slow'],
  ['EIO', 2, 'changing'],
  ['EIO', 3, 'quick'],
] as const)(
  'a log file whose disk fails with %s at any operation, %i in a row, on a disk that is %s: no durable frame is lost',
  async (code, often, pace) => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const { crashPoints, problems } = await simulateLogFaults(seed, code, often, pace);
      expect(problems).toEqual([]);
      expect(crashPoints).toBeGreaterThan(15);
    }
  },
  60_000,
);

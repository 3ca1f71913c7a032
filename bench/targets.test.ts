import { describe, expect, test } from 'bun:test';
import { judge, mediansOf, sectionsOfTargets, targetTable } from './targets.ts';

describe('the table of targets', () => {
  test.each([
    [{ most: 2.4 }, 2.4, 'met'],
    [{ most: 2.4 }, 2.401, 'NOT met'],
    [{ least: 1_200 }, 1_200, 'met'],
    [{ least: 1_200 }, 1_199.9, 'NOT met'],
    [{ most: 11 }, undefined, 'not measured'],
    [{ most: 11 }, Number.NaN, 'not measured'],
  ] as const)('limit %p, figure %p: %s', (limit, figure, verdict) => {
    expect(judge({ limit }, figure)).toBe(verdict);
  });

  test('has the median of several runs', () => {
    expect(mediansOf([{ a: 1, b: 7 }, { a: 9 }, { a: 2, b: 8 }])).toEqual({ a: 2, b: 7 });
  });

  test('shows each figure with its target and verdict', () => {
    const lines = targetTable([{ 'turn.10.syncs': 26, 'swarm.ten': 1_300.4 }], sectionsOfTargets).split('\n');
    const rowOf = (what: string) =>
      lines
        .find((line) => line.includes(what))
        ?.split('|')
        .map((cell) => cell.trim());
    expect(rowOf('10 agent processes')?.slice(2, 5)).toEqual(['1300/s', '≥ 1200/s', 'met']);
    expect(rowOf('26 syncs')?.slice(2, 5)).toEqual(['26 syncs', '≤ 11 syncs', 'NOT met']);
    expect(rowOf('gdn --help')?.slice(2, 5)).toEqual(['', '≤ 60 ms', 'not measured']);
  });

  test('has only the targets of the sections that ran', () => {
    expect(targetTable([{}], ['commands'])).toContain('gdn status');
    expect(targetTable([{}], ['commands'])).not.toContain('onion');
    expect(targetTable([{}], ['studio'])).toBe('');
  });

  test('names the section of every figure', () => {
    expect(sectionsOfTargets).toEqual(['turn', 'swarm', 'commands', 'conversations', 'onion', 'cluster']);
  });
});

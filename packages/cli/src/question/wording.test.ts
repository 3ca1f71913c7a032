import { describe, expect, test } from 'bun:test';
import type { AlwaysScope, JsonObject } from '@goondan/types';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { describeEffect, describeWish, explainKeys, nameAnswer, promptOf } from './wording.ts';

const kinds = ['call', 'change', 'budget', 'form', 'page'] as const;
const of = (kind: (typeof kinds)[number]) => ({ ...fakeQuestion, kind });

describe('the words of a question', () => {
  test('say what is asked, and every key', () => {
    expect(kinds.map((kind) => promptOf({ kind }))).toEqual([
      'Let it run? [y/n/e/a] ',
      'Change the bundle? [y/n] ',
      'Raise the budget? [y/n] ',
      'Send this answer? [y/n/e] ',
      'Did you open the page? [y/n] ',
    ]);
    for (const kind of kinds) {
      const [, keys = ''] = /\[(.*)\]/.exec(promptOf({ kind })) ?? [];
      expect(explainKeys({ kind }).map((line) => line[0])).toEqual(keys.split('/'));
    }
  });

  test('name the wish of the agent', () => {
    expect(kinds.map((kind) => describeWish(of(kind)))).toEqual([
      'wants to run bash__exec',
      'wants to change its bundle',
      'needs more of a budget',
      'asks you',
      'asks you to open a page',
    ]);
  });

  test('name the answer', () => {
    const [yes, no] = [{ decision: 'approved' }, { decision: 'denied' }] as const;
    expect(kinds.map((kind) => `${nameAnswer(kind, yes)} ${nameAnswer(kind, no)}`)).toEqual([
      'Approved Denied',
      'Approved Denied',
      'Approved Denied',
      'Answered Declined',
      'Answered Declined',
    ]);
  });

  test('say exactly what is always allowed, where, and how to revoke it', () => {
    const effect = (always: AlwaysScope, args?: JsonObject) =>
      describeEffect(of('call'), { decision: 'approved', always, ...(args && { args }) });
    const where = 'runs without a question from now on, in this conversation of helper (default)';
    const how = '`gdn approve` lists it, and `gdn deny 3fa9c1d2` revokes it';
    expect(effect('tool')).toBe(`every call of bash__exec, with any arguments, ${where}. ${how}`);
    expect(effect('host', { url: 'https://example.com/a' })).toBe(
      `it runs with your arguments; every call of bash__exec to https://example.com, with any other arguments, ${where}. ${how}`,
    );
    expect(effect('arguments', {})).toBe(
      `it runs with your arguments; every call of bash__exec with exactly these arguments ${where}. ${how}`,
    );
    expect(describeEffect(of('call'), { decision: 'approved' })).toBeUndefined();
  });
});

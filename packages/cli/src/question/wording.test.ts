import { describe, expect, test } from 'bun:test';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { createColors } from '../colors.ts';
import { describeGrant } from './describe-grant.ts';
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
    const effect = (always: 'tool' | 'arguments', args?: object) =>
      describeEffect(of('call'), { decision: 'approved', always, ...(args && { args }) });
    const where = 'runs without a question from now on, in this conversation of helper (default)';
    const how = '`gdn approve` lists it, and `gdn deny 3fa9c1d2` revokes it';
    expect(effect('tool')).toBe(`every call of bash__exec, with any arguments, ${where}. ${how}`);
    expect(effect('arguments', {})).toBe(
      `it runs with your arguments; every call of bash__exec with exactly these arguments ${where}. ${how}`,
    );
    expect(describeEffect(of('call'), { decision: 'approved' })).toBeUndefined();
  });

  test('list what is always allowed, with the person and the door', () => {
    const { id, agent, instanceKey, toolName, reason } = fakeQuestion;
    const grant = {
      id,
      agent,
      instanceKey,
      toolName,
      reason,
      by: 'ann',
      via: 'chat',
      decidedAt: '2026-01-01T00:00:00Z',
    };
    const shown = (more: object) => describeGrant({ ...grant, always: 'tool', ...more }, createColors(false), false);
    expect(shown({})).toBe(
      '3fa9c1d2  helper (default): every call of bash__exec, with any arguments\n    allowed by ann via chat, 2026-01-01T00:00:00Z\n',
    );
    expect(shown({ always: 'arguments', args: { command: 'ls\u202e' } })).toBe(
      '3fa9c1d2  helper (default): every call of bash__exec with exactly these arguments\n    {"command":"ls\\u202e"}\n    allowed by ann via chat, 2026-01-01T00:00:00Z\n',
    );
  });
});

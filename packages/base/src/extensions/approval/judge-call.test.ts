import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ArgumentPattern, JsonObject, JsonValue } from '@goondan/types';
import type { ApprovalConfig, Verdict } from './approval-config.ts';
import { compileRules } from './compile-rules.ts';
import { judgeCall } from './judge-call.ts';
import { LONGEST_TEXT } from '../../pattern/compile-glob.ts';
import { rule } from './testing/rule.ts';

function verdictOf(config: ApprovalConfig, call: Partial<Parameters<typeof judgeCall>[2]> = {}): Verdict {
  const judged = { toolName: 'bash__exec', args: {}, effects: 'external', ...call } as const;
  return judgeCall(compileRules(config.rules ?? []), config.default, judged).verdict;
}

const commanded = (command: string) => ({ args: { command } });

describe('allow, ask, deny', () => {
  test('deny beats ask beats allow, in any order of rules', () => {
    const verdict = fc.constantFrom<Verdict>('allow', 'ask', 'deny');
    fc.assert(
      fc.property(fc.array(verdict, { minLength: 1, maxLength: 6 }), verdict, (thens, fallback) => {
        const rules = thens.map((then) => rule('*', then));
        const strictest = (['deny', 'ask', 'allow'] as const).find((each) => thens.includes(each));
        expect(verdictOf({ rules, default: fallback })).toBe(strictest ?? fallback);
      }),
    );
  });

  test('by default tools without effects are allowed, and others asked about', () => {
    expect(verdictOf({}, { effects: 'none' })).toBe('allow');
    expect(verdictOf({}, { effects: 'local' })).toBe('ask');
    expect(verdictOf({}, { effects: 'external' })).toBe('ask');
    expect(verdictOf({ default: 'deny' }, { effects: 'none' })).toBe('deny');
    expect(verdictOf({ default: { local: 'allow' } }, { effects: 'local' })).toBe('allow');
    expect(verdictOf({ default: { local: 'allow' } }, { effects: 'external' })).toBe('ask');
  });

  test('by the name of the tool, one pattern or several', () => {
    const rules = [rule(['file__*', 'bash__exec'], 'deny')];
    expect(verdictOf({ rules, default: 'allow' }, { toolName: 'file__write' })).toBe('deny');
    expect(verdictOf({ rules, default: 'allow' }, { toolName: 'bash__exec' })).toBe('deny');
    expect(verdictOf({ rules, default: 'allow' }, { toolName: 'bash__other' })).toBe('allow');
  });

  test.each<[ArgumentPattern, string, JsonObject, boolean]>([
    ['git status', 'command', { command: 'git status' }, true],
    ['git status', 'command', { command: 'git status; rm x' }, false],
    ['git *', 'command', { command: 'git log' }, true],
    [{ equals: 'a*' }, 'command', { command: 'abc' }, false],
    [{ equals: 'a*' }, 'command', { command: 'a*' }, true],
    [{ equals: { deep: [1, null] } }, 'command', { command: { deep: [1, null] } }, true],
    [{ glob: 'a*' }, 'command', { command: 'abc' }, true],
    [true, 'options.force', { options: { force: true } }, true],
    [true, 'options.force', { options: { force: 'true' } }, false],
    [3, 'files.1', { files: [1, 3] }, true],
    ['*', 'files.length', { files: [1, 3] }, false],
    ['*', 'command', {}, false],
    ['*', 'command.deep', { command: 'x' }, false],
    ['*', 'toString', {}, false],
    ['*rm*', 'command', { command: ['rm', '-rf'] }, true],
    ['7', 'count', { count: 7 }, true],
    [null, 'count', { count: null }, true],
    [{ anything: 1 }, 'x', { x: 1 }, false],
  ])('by arguments: %p at %s of %p', (pattern, path, args, fits) => {
    const rules = [rule('*', 'deny', { when: { [path]: pattern } })];
    const judge = () => verdictOf({ rules, default: 'allow' }, { args });
    if (JSON.stringify(pattern) === '{"anything":1}')
      expect(judge).toThrow('rules[0]: a pattern is a value, or has one of');
    else expect(judge()).toBe(fits ? 'deny' : 'allow');
  });

  test('all conditions of a rule must match', () => {
    const when = { command: 'git push*', 'options.force': true };
    const config: ApprovalConfig = { rules: [rule('*', 'deny', { when })], default: 'allow' };
    expect(verdictOf(config, { args: { command: 'git push', options: { force: true } } })).toBe('deny');
    expect(verdictOf(config, { args: { command: 'git push', options: { force: false } } })).toBe('allow');
  });

  test('one of several values is enough to deny, and all are needed to allow', () => {
    const at = (then: Verdict): ApprovalConfig => ({
      rules: [rule('*', then, { when: { 'paths.*': '/tmp/*' } })],
      default: then === 'allow' ? 'deny' : 'allow',
    });
    const mixed = { args: { paths: ['/tmp/a', '/etc/passwd'] } };
    expect(verdictOf(at('deny'), mixed)).toBe('deny');
    expect(verdictOf(at('allow'), mixed)).toBe('deny');
    expect(verdictOf(at('allow'), { args: { paths: ['/tmp/a'] } })).toBe('allow');
    expect(verdictOf(at('allow'), { args: { paths: [] } })).toBe('deny');
  });

  test('a text that is too long to examine gets the stricter verdict', () => {
    const long = commanded('x'.repeat(LONGEST_TEXT + 1));
    const at = (then: Verdict): ApprovalConfig => ({
      rules: [rule('*', then, { when: { command: 'nothing of the kind' } })],
      default: then === 'allow' ? 'ask' : 'allow',
    });
    expect([verdictOf(at('deny'), long), verdictOf(at('ask'), long), verdictOf(at('allow'), long)]).toEqual([
      'deny',
      'ask',
      'ask',
    ]);
  });

  test('equality has no limit: a long text is denied by the rule that equals it, and by no other one', () => {
    const text = 'x'.repeat(LONGEST_TEXT + 1);
    const of = (equals: JsonValue) => ({
      rules: [rule('*', 'deny', { when: { command: { equals } } })],
      default: 'allow' as const,
    });
    expect(verdictOf(of(text), commanded(text))).toBe('deny');
    expect(verdictOf(of(`${text}y`), commanded(text))).toBe('allow');
    expect(verdictOf(of([text]), { args: { command: [text] } })).toBe('deny');
  });

  test('many costly rules do not block the process: what is not examined gets the stricter verdict', () => {
    const glob = `*${'a'.repeat(900)}b`;
    const costly = (then: Verdict) => Array.from({ length: 499 }, () => rule('*', then, { when: { command: glob } }));
    const text = 'a'.repeat(LONGEST_TEXT);
    const last = rule('*', 'deny', { when: { command: 'nothing of the kind' } });
    const startedAt = performance.now();
    expect(verdictOf({ rules: [...costly('allow'), last], default: 'allow' }, commanded(text))).toBe('deny');
    expect(verdictOf({ rules: costly('allow'), default: 'ask' }, commanded(text))).toBe('ask');
    expect(verdictOf({ rules: costly('ask'), default: 'allow' }, commanded(text))).toBe('ask');
    const named = Array.from({ length: 500 }, () => rule(glob, 'deny'));
    expect(verdictOf({ rules: named, default: 'allow' }, { toolName: text })).toBe('deny');
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    // Usual rules and texts stay far below the limit.
    const usual = Array.from({ length: 500 }, () => rule('*', 'deny', { when: { command: 'rm *' } }));
    expect(verdictOf({ rules: usual, default: 'allow' }, commanded(text))).toBe('allow');
  }, 30_000);

  test('many values in lists are work, too, and a text that is too long is none', () => {
    const each = (then: Verdict, pattern: ArgumentPattern = '*a') =>
      Array.from({ length: 500 }, () => rule('*', then, { when: { 'f.*.g.*': pattern } }));
    const args = { f: Array.from({ length: 20_000 }, () => ({ g: ['a'] })) };
    const startedAt = performance.now();
    expect(verdictOf({ rules: each('deny', 'b'), default: 'allow' }, { args })).toBe('deny');
    expect(verdictOf({ rules: each('deny', { equals: 'b' }), default: 'allow' }, { args })).toBe('deny');
    expect(verdictOf({ rules: each('allow'), default: 'ask' }, { args: { ...args, h: 1 } })).toBe('allow');
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    const long = Array.from({ length: 200 }, () => rule('*', 'allow', { when: { command: 'x*' } }));
    const rules = [...long, rule('*', 'deny', { when: { path: '*.env' } })];
    const text = 'x'.repeat(200_000);
    expect(verdictOf({ rules, default: 'allow' }, { args: { command: text, path: 'a.ts' } })).toBe('allow');
    expect(verdictOf({ rules, default: 'allow' }, { args: { command: text, path: '.env' } })).toBe('deny');
  }, 30_000);

  test('large values that become text are work, too; equality is examined even after all work', () => {
    const spends = [1, 2].map(() => rule('*', 'allow', { when: { big: 'x' } }));
    const args = { big: ['x'.repeat(6_000_000)], path: 'b' };
    const last = (path: ArgumentPattern): ApprovalConfig => ({
      rules: [...spends, rule('*', 'deny', { when: { path } })],
      default: 'ask',
    });
    expect(verdictOf(last('a'), { args })).toBe('deny');
    expect(verdictOf(last({ equals: 'a' }), { args })).toBe('ask');
    expect(verdictOf(last({ equals: 'b' }), { args })).toBe('deny');
  });

  test('a bad pattern is rejected when the agent starts, with its place', () => {
    const refused = (pattern: ArgumentPattern) => () =>
      compileRules([rule('*', 'ask'), rule('*', 'ask', { when: { x: pattern } })]);
    expect(refused('a'.repeat(1000))).toThrow(/^Extension\/approval: rules\[1\]: the pattern "a+" is too long\.$/);
    expect(refused({ glob: 1 })).toThrow('rules[1]: glob is not a text.');
    expect(refused({ glob: 'a', equals: 'a' })).toThrow('rules[1]: a pattern is a value, or has one of equals, glob.');
  });

  test('a regular expression is rejected, and the suggestion says how to write a glob', () => {
    for (const pattern of [{ regex: '^rm\\b' }, { regex: 1 }, { regex: 'a', glob: 'a' }]) {
      expect(() => compileRules([rule('*', 'deny', { when: { command: pattern } })])).toThrow(
        expect.objectContaining({
          code: 'E_EXT_CONFIG',
          message: 'Extension/approval: rules[0]: regex is not supported.',
          suggestion: expect.stringContaining('`^git ` becomes `git *`'),
        }),
      );
    }
    expect(verdictOf({ rules: [rule('*', 'deny', { when: { x: { equals: { regex: 'a' } } } })] })).toBe('ask');
  });

  test('gives the reason, and whether it depends on arguments', () => {
    const rules = compileRules([
      rule('bash__*', 'ask'),
      rule('bash__*', 'ask', { reason: 'It is a shell.' }),
      rule('file__*', 'deny', { when: { path: '/etc/*' }, reason: 'No.' }),
    ]);
    const call = { args: { path: '/tmp' }, effects: 'local' } as const;
    expect(judgeCall(rules, undefined, { ...call, toolName: 'bash__exec' })).toEqual({
      verdict: 'ask',
      reason: 'It is a shell.',
      dependsOnArguments: false,
    });
    expect(judgeCall(rules, undefined, { ...call, toolName: 'file__write' })).toEqual({
      verdict: 'ask',
      reason: 'No rule matches this call, and its effects are local.',
      dependsOnArguments: true,
    });
  });
});

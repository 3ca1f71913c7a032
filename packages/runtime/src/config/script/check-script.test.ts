import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { checkScript } from './check-script.ts';

function refusal(options: unknown): GoondanError {
  try {
    checkScript(options);
  } catch (error) {
    if (error instanceof GoondanError) return error;
    throw error;
  }
  throw new Error('The script was accepted.');
}

/** Returns the error for this rule. The rule is the second one, so that a wrong index would show. */
function refusalOfRule(rule: unknown): GoondanError {
  return refusal({ script: [{ say: 'fine' }, rule] });
}

describe('checkScript accepts', () => {
  test('a rule with each action, and fills in absent fields', () => {
    const script = checkScript({
      script: [
        { when: 'a(?<b>.)', call: { tool: 'x__y' } },
        { afterTool: 'x__y', say: 'text', calls: [{ tool: 'x__y', args: { n: [1, null, { deep: true }] } }] },
        { fail: { message: 'no' } },
        { fail: { message: 'no', retryable: true, retryAfterMs: 5, times: 2, code: 'E_MODEL_TIMEOUT' } },
      ],
    });
    expect(script).toEqual({
      latencyMs: 0,
      tokensPerSecond: 0,
      rules: [
        {
          condition: { type: 'user-text', pattern: /a(?<b>.)/i },
          action: { type: 'answer', calls: [{ tool: 'x__y', args: {} }] },
        },
        {
          condition: { type: 'tool-result', toolName: 'x__y' },
          action: { type: 'answer', say: 'text', calls: [{ tool: 'x__y', args: { n: [1, null, { deep: true }] } }] },
        },
        {
          condition: { type: 'always' },
          action: { type: 'fail', code: 'E_MODEL_FAILED', message: 'no', retryable: false, times: Infinity },
        },
        {
          condition: { type: 'always' },
          action: {
            type: 'fail',
            code: 'E_MODEL_TIMEOUT',
            message: 'no',
            retryable: true,
            retryAfterMs: 5,
            times: 2,
          },
        },
      ],
    });
  });

  test('fields that are present but undefined, as TypeScript writes them', () => {
    const [rule] = checkScript({ script: [{ when: undefined, say: 'hello', call: undefined }] }).rules;
    expect(rule?.condition).toEqual({ type: 'always' });
  });

  test('a copy of the arguments: later changes to the options do not reach the script', () => {
    const args = { list: ['first'] };
    const script = checkScript({ script: [{ call: { tool: 'x__y', args } }] });
    args.list.push('second');
    expect(script.rules[0]?.action).toMatchObject({ calls: [{ args: { list: ['first'] } }] });
  });
});

describe('checkScript refuses with E_MODEL_SCRIPT', () => {
  const itself: Record<string, unknown> = {};
  itself.again = itself;

  test.each<[name: string, options: unknown, message: string]>([
    ['no options', undefined, 'options is missing'],
    ['options that are a list', [], 'options must be an object, not an empty list'],
    ['an unknown option', { script: [{ say: '' }], latency: 1 }, 'options has no field "latency"'],
    ['no script', {}, 'script is missing; it must be a list'],
    ['a script that is not a list', { script: { say: 'x' } }, 'script must be a list, not an object'],
    ['an empty script', { script: [] }, 'script must not be empty'],
    ['a negative latency', { script: [{ say: '' }], latencyMs: -1 }, 'latencyMs must be a number of 0 or more, not -1'],
    ['an endless latency', { script: [{ say: '' }], latencyMs: Infinity }, 'latencyMs must be'],
    ['a speed in words', { script: [{ say: '' }], tokensPerSecond: 'fast' }, 'tokensPerSecond must be'],
  ])('%s', (_, options, message) => {
    const error = refusal(options);
    expect(error.code).toBe('E_MODEL_SCRIPT');
    expect(error.message).toContain(message);
  });

  test.each<[name: string, rule: unknown, message: string]>([
    ['a rule that is a string', 'say hello', 'script[1] must be an object, not "say hello"'],
    ['a rule that is null', null, 'script[1] must be an object, not null'],
    ['an unknown field', { sya: 'x' }, 'script[1] has no field "sya"'],
    ['no action', { when: 'x' }, 'script[1] does nothing'],
    ['say and fail', { say: 'x', fail: { message: 'y' } }, 'script[1] has `say` and `fail`'],
    ['call and fail', { call: { tool: 'x' }, fail: { message: 'y' } }, 'script[1] has `call` and `fail`'],
    ['call and calls', { call: { tool: 'x' }, calls: [{ tool: 'x' }] }, 'script[1] has `call` and `calls`'],
    ['when and afterTool', { when: 'x', afterTool: 'y', say: 'z' }, 'script[1] has both `when` and `afterTool`'],
    ['a `when` that is not a string', { when: 3, say: 'x' }, 'script[1].when must be a string, not 3'],
    ['a bad regular expression', { when: '(', say: 'x' }, 'script[1].when is not a regular expression'],
    ['a group named input', { when: '(?<input>.)', say: 'x' }, 'script[1].when has a group named `input`'],
    ['a group named result', { when: 'a|(?<result>.)', say: 'x' }, 'script[1].when has a group named `result`'],
    ['an empty afterTool', { afterTool: '', say: 'x' }, 'script[1].afterTool must not be empty'],
    ['say without words', { say: null }, 'script[1].say must be a string, not null'],
    ['a call without tool', { call: { args: {} } }, 'script[1].call.tool is missing'],
    ['a call with an unknown field', { call: { tool: 'x', arguments: {} } }, 'script[1].call has no field "arguments"'],
    ['no calls', { calls: [] }, 'script[1].calls must not be empty'],
    ['a call in the list without tool', { calls: [{ tool: 'x' }, {}] }, 'script[1].calls[1].tool is missing'],
    [
      'args that are a list',
      { call: { tool: 'x', args: [] } },
      'script[1].call.args must be an object, not an empty list',
    ],
    ['args with a function', { call: { tool: 'x', args: { f: [() => 1] } } }, 'script[1].call.args.f[0] must be JSON'],
    ['args with a date', { call: { tool: 'x', args: { d: new Date(0) } } }, 'script[1].call.args.d must be JSON'],
    ['args with NaN', { call: { tool: 'x', args: { n: NaN } } }, 'script[1].call.args.n must be JSON; it is NaN'],
    [
      'args in a circle',
      { call: { tool: 'x', args: itself } },
      'script[1].call.args.again must be JSON; it is part of a cycle',
    ],
    ['fail as a string', { fail: 'overloaded' }, 'script[1].fail must be an object, not "overloaded"'],
    ['fail without message', { fail: {} }, 'script[1].fail.message is missing'],
    ['fail with an unknown field', { fail: { message: 'x', time: 1 } }, 'script[1].fail has no field "time"'],
    ['negative times', { fail: { message: 'x', times: -1 } }, 'script[1].fail.times must be a whole number'],
    ['half a time', { fail: { message: 'x', times: 1.5 } }, 'script[1].fail.times must be a whole number'],
    ['a negative wait', { fail: { message: 'x', retryAfterMs: -5 } }, 'script[1].fail.retryAfterMs must be a number'],
    ['retryable in words', { fail: { message: 'x', retryable: 'yes' } }, 'script[1].fail.retryable must be true or'],
    ['an unknown code', { fail: { message: 'x', code: 'E_MODEL_FAILD' } }, 'script[1].fail.code is not a code'],
  ])('%s', (_, rule, message) => {
    const error = refusalOfRule(rule);
    expect(error.code).toBe('E_MODEL_SCRIPT');
    expect(error.message).toContain(message);
  });

  test.each<[rule: unknown, suggestion: string]>([
    [{ sya: 'x' }, 'Did you mean `say`?'],
    [{ say: 'x', response: 'y' }, 'Use one of: when, afterTool, say, call, calls, fail.'],
    [{ fail: { message: 'x', time: 1 } }, 'Did you mean `times`?'],
    [{ fail: { message: 'x', code: 'E_MODEL_FAILD' } }, 'Did you mean `E_MODEL_FAILED`?'],
    [{ when: 'x', afterTool: 'y', say: 'z' }, 'Write two rules.'],
  ])('%j, with a suggestion', (rule, suggestion) => {
    expect(refusalOfRule(rule).suggestion).toBe(suggestion);
  });

  test('a bad regular expression, keeping the cause', () => {
    expect(refusalOfRule({ when: '(', say: 'x' }).cause).toBeInstanceOf(SyntaxError);
  });
});

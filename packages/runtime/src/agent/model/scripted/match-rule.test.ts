import { describe, expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { checkScript } from '../../../config/script/check-script.ts';
import { matchRule } from './match-rule.ts';
import type { ScriptedRule } from '../../../testing/scripted-rule.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const tool = (...names: string[]): ModelMessage => ({
  role: 'tool',
  content: names.map((toolName) => ({
    type: 'tool-result',
    toolCallId: toolName,
    toolName,
    output: { type: 'text', value: 'weather' },
  })),
});

/** Returns the index of the matching rule, and its groups. */
function match(script: ScriptedRule[], newest: ModelMessage | undefined, failures: readonly number[] = []) {
  const { rules } = checkScript({ script });
  const found = matchRule(rules, newest, (rule) => failures[rules.indexOf(rule)] ?? 0);
  return found === undefined ? undefined : { index: rules.indexOf(found.rule), groups: { ...found.groups } };
}

describe('matchRule', () => {
  test('the first matching rule answers', () => {
    const script = [
      { when: 'tea', say: 'a' },
      { when: 'coffee', say: 'b' },
      { when: 'o', say: 'c' },
    ];
    expect(match(script, user('coffee'))?.index).toBe(1);
  });

  test('when ignores case, matches anywhere, and gives its named groups', () => {
    const script = [{ when: 'weather in (?<city>\\w+)( in (?<unit>\\w+))?', say: 'x' }];
    expect(match(script, user('The WEATHER in Seoul?'))).toEqual({
      index: 0,
      groups: { city: 'Seoul', unit: undefined },
    });
  });

  test('when matches repeatedly: a pattern keeps no position', () => {
    const script = [{ when: 'tea', say: 'x' }];
    const { rules } = checkScript({ script });
    const answers = [1, 2, 3].map(() => matchRule(rules, user('tea'), () => 0) !== undefined);
    expect(answers).toEqual([true, true, true]);
  });

  test('when matches only user messages', () => {
    const script = [{ when: 'weather', say: 'x' }];
    expect(match(script, { role: 'assistant', content: 'weather' })).toBeUndefined();
    expect(match(script, tool('weather'))).toBeUndefined();
  });

  test('afterTool matches only a result of that tool', () => {
    const script = [{ afterTool: 'weather__get', say: 'x' }];
    expect(match(script, tool('weather__get'))).toEqual({ index: 0, groups: {} });
    expect(match(script, tool('weather__set'))).toBeUndefined();
    expect(match(script, tool())).toBeUndefined();
    expect(match(script, user('weather__get'))).toBeUndefined();
  });

  test('afterTool checks only the last of parallel results', () => {
    const script = [
      { afterTool: 'a__a', say: 'x' },
      { afterTool: 'b__b', say: 'y' },
    ];
    expect(match(script, tool('a__a', 'b__b'))?.index).toBe(1);
  });

  test.each([[user('x')], [tool('a__a')], [{ role: 'assistant', content: 'x' } as const], [undefined]])(
    'a rule with neither matches %j',
    (newest) => {
      expect(match([{ say: 'x' }], newest)?.index).toBe(0);
    },
  );

  test('a rule that has failed `times` times is skipped', () => {
    const script = [{ fail: { message: 'no', times: 2 } }, { say: 'x' }];
    expect(match(script, user('x'), [1])?.index).toBe(0);
    expect(match(script, user('x'), [2])?.index).toBe(1);
  });

  test('a rule that fails without `times` is never skipped', () => {
    expect(match([{ fail: { message: 'no' } }, { say: 'x' }], user('x'), [1_000_000])?.index).toBe(0);
  });
});

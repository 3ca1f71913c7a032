import { describe, expect, test } from 'bun:test';
import { scriptedAgent } from '@goondan/runtime/testing';
import { describeArguments } from './describe-arguments.ts';
import type { LoggingConfig } from './register.ts';
import { baseExtension } from '../../testing/base-extension.ts';

const SECRET = 'sk-live-canary-1234';

async function logOf(config: LoggingConfig, input = 'weather') {
  const tested = await scriptedAgent({
    script: [
      { afterTool: 'weather__get', say: 'Sunny.' },
      { afterTool: 'weather__break', say: 'Sorry.' },
      { when: 'weather', call: { tool: 'weather__get', args: { city: 'Seoul', note: SECRET, password: 'hunter2' } } },
      { when: 'break', call: { tool: 'weather__break' } },
      { when: 'crash', fail: { message: 'no model today' } },
    ],
    tools: [
      {
        name: 'weather',
        exports: [
          { name: 'get', description: 'The weather.', parameters: { type: 'object' } },
          { name: 'break', description: 'Breaks.' },
        ],
        handlers: {
          get: () => 'sunny',
          break: () => {
            throw new Error('out of order');
          },
        },
      },
    ],
    secrets: [SECRET],
    extensions: [baseExtension('logging', config)],
  });
  await tested.say(input);
  await tested.close();
  return tested.logs
    .filter(({ extension }) => extension === 'logging')
    .map(({ level, message }) => `${level} ${message.replaceAll(/\d+ ms/g, 'N ms')}`);
}

describe('logging', () => {
  test('B-05 logs the duration and the outcome of turns, steps and tool calls', async () => {
    expect(await logOf({})).toEqual([
      'info weather__get: ok, N ms',
      'info Step 0: 1 tool call, N ms',
      'info Step 1: 0 tool calls, N ms',
      'info Turn turn-event-1: text_response, N ms',
    ]);
  });

  test('B-05 has arguments only when configured, with secrets masked by value and by name', async () => {
    const lines = await logOf({ includeToolArgs: true, level: 'debug' });
    expect(lines[0]).toStartWith('debug weather__get {"city":"Seoul","note":"');
    expect(lines.join()).not.toContain(SECRET);
    expect(lines.join()).not.toContain('hunter2');
  });

  test('B-05 an error result shows its code, and a failure its message', async () => {
    expect((await logOf({}, 'break'))[0]).toBe('info weather__break: E_TOOL_FAILED, N ms');
    const lines = await logOf({}, 'crash');
    expect(lines.at(-1)).toBe('error Turn turn-event-1: failed, N ms: no model today');
    expect(lines.find((line) => line.startsWith('error Step'))).toContain('no model today');
  });

  test('long arguments are cut', () => {
    expect(describeArguments({ text: 'x'.repeat(1_000) })).toHaveLength(501);
    expect(describeArguments({ apiKey: 'k', nested: { Authorization: 'b' }, tokens: [1] })).toBe(
      '{"apiKey":"***","nested":{"Authorization":"***"},"tokens":[1]}',
    );
  });
});

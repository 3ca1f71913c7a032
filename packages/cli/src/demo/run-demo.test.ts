import { describe, expect, test } from 'bun:test';
import { openTerminal } from '../terminal.ts';
import { runDemo } from './run-demo.ts';

describe('runDemo', () => {
  test('--json of a cancelled turn is an object too, with the error in it', async () => {
    const printed = { out: '', error: '' };
    const terminal = openTerminal({
      stdout: { write: (text) => (printed.out += text) },
      stderr: { write: (text) => (printed.error += text) },
      env: {},
    });
    const code = await runDemo({ input: 'Hello', json: true }, terminal, AbortSignal.abort());
    expect(JSON.parse(printed.out)).toMatchObject({
      agent: 'forecaster',
      response: '',
      finishReason: 'error',
      error: { code: 'E_CANCELLED' },
      steps: 0,
    });
    expect(printed.error).toStartWith('E_CANCELLED: The turn was cancelled.\n');
    expect(code).toBe(130);
  });
});

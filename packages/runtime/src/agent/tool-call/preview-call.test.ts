import { describe, expect, test } from 'bun:test';
import { maskSecrets } from '../../log/mask-secrets.ts';
import { previewArguments, previewError } from './preview-call.ts';

const asItIs = (text: string) => text;

describe('the preview of a call’s arguments', () => {
  test('is JSON, cut after 200 characters', () => {
    expect(previewArguments({ city: 'Seoul' }, asItIs)).toBe('{"city":"Seoul"}');
    const long = previewArguments({ text: 'x'.repeat(300) }, asItIs);
    expect(long).toHaveLength(200);
    expect(long).toStartWith('{"text":"xxx');
    expect(long).toEndWith('x…');
  });

  test('masks a secret at the cut instead of cutting it in half', () => {
    const secret = 'hunter2-hunter2-hunter2';
    const shown = previewArguments({ text: `${'x'.repeat(180)}${secret}` }, maskSecrets([secret]));
    expect(shown).not.toContain('hunter2');
    expect(shown).toContain('***');
  });

  test('is empty for arguments that are not JSON', () => {
    const cycle: Record<string, unknown> = {};
    cycle['itself'] = cycle;
    for (const input of [cycle, 1n, undefined]) expect(previewArguments(input, asItIs)).toBe('');
  });
});

test('the preview of an error masks its texts, then cuts them after 1,000 characters', () => {
  const error = { name: 'Error', code: 'E_TOOL_FAILED', message: `no secret-value ${'x'.repeat(2_000)}` };
  const { message, ...rest } = previewError(error, maskSecrets(['secret-value']));
  expect(message).toStartWith('no *** xxx');
  expect(message).toHaveLength(1_000);
  expect(rest).toEqual({ code: 'E_TOOL_FAILED' });
});

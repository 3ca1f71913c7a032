import { expect, test } from 'bun:test';
import manifest from '../../package.json' with { type: 'json' };
import { GoondanError } from './goondan-error.ts';
import { helpUrlOf, homepage } from './help-url.ts';

test('helpUrl is a URL below the homepage of the package, or absent', () => {
  const fields: Readonly<Record<string, unknown>> = manifest;
  expect(fields['homepage']).toBe(homepage);
  for (const site of [
    'https://example.com/goondan',
    'https://example.com/goondan/',
    'https://example.com/goondan#readme',
  ])
    expect(helpUrlOf('E_CANCELLED', site)).toBe('https://example.com/goondan/docs/errors.md#e_cancelled');

  const error = new GoondanError('E_CANCELLED', 'Stopped.');
  expect(error.helpUrl).toBe(helpUrlOf('E_CANCELLED'));
  if (error.helpUrl === undefined) expect(Object.keys(error)).not.toContain('helpUrl');
  else expect(URL.canParse(error.helpUrl)).toBe(true);
});

import { expect, test } from 'bun:test';
import { renderToStaticMarkup } from 'react-dom/server';
import { BandDetails } from '../onion/band-details.tsx';
import type { LayerRecord } from '@goondan/cli/studio';
import type { Band } from '../onion/bands.ts';
import { Problem } from './problem.tsx';

const place = { file: 'extensions/house-rules.ts', line: 14, column: 7 };
const stack = 'ReferenceError: rulez is not defined\n    at extensions/house-rules.ts:14:7\n    … 6 frames of goondan';

test('the card of a failed turn names extension and place, and has the stack folded', () => {
  const error = { code: 'E_EXT_MIDDLEWARE', message: 'rulez is not defined', extension: 'house-rules', place };
  const page = renderToStaticMarkup(<Problem error={error} stack={stack} isPast />);
  const text = page.replaceAll(/<[^>]+>/g, '');
  expect(text).toContain('E_EXT_MIDDLEWARE house-rules: rulez is not defined');
  expect(text).toContain('at extensions/house-rules.ts:14:7');
  expect(page).toContain(`<details><summary>Stack</summary><pre>${stack}</pre></details>`);
});

test('the card of another failure is unchanged', () => {
  const page = renderToStaticMarkup(<Problem error={{ message: 'No answer.' }} />);
  expect(page).not.toContain('<details>');
  expect(page.replaceAll(/<[^>]+>/g, '').trim()).toBe('No answer.');
});

test('the details of a failed layer have its place and the stack folded', () => {
  const layer: LayerRecord = {
    extension: 'house-rules',
    name: 'step',
    kind: 'step',
    startMs: 0,
    ownMs: 1,
    totalMs: 1,
    outcome: 'failed',
    changed: [],
    resultChanged: [],
    emitted: [],
    emittedMore: 0,
    messages: [],
    error: 'rulez is not defined',
    place,
    stack,
  };
  const band: Band = {
    type: 'layer',
    id: '0',
    kind: 'step',
    title: 'rules',
    startMs: 0,
    totalMs: 1,
    passedOn: false,
    inside: [],
    layer,
  };
  const page = renderToStaticMarkup(<BandDetails workspaceId="w" band={band} />);
  expect(page).toContain('<code class="error-place">extensions/house-rules.ts:14:7</code>');
  expect(page).toContain('<details><summary>Stack</summary>');
});

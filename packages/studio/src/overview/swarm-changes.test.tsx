import { expect, test } from 'bun:test';
import type { ChangeReport } from '@goondan/cli/studio';
import { renderToStaticMarkup } from 'react-dom/server';
import { SwarmChanges } from './swarm-changes.tsx';

const at = '2026-01-01T00:00:00.000Z';
const show = (...changes: ChangeReport[]) =>
  renderToStaticMarkup(<SwarmChanges changes={changes} />).replaceAll('<!-- -->', '');

test('L-05 a change is shown part by part, with the reason why a process was replaced', () => {
  const shown = show({
    at,
    message: 'Reloaded: changed Agent/host; 2 kept.',
    agents: [
      {
        agent: 'host',
        parts: [
          { identity: 'Extension/guard', fate: 'updated' },
          { identity: 'Tool/clock', fate: 'retained' },
        ],
        finishing: [],
      },
      { agent: 'other', parts: [], replaced: 'its environment has changed', finishing: [] },
      { agent: 'third', parts: [], renewed: ['default'], finishing: [] },
      { agent: 'fourth', parts: [], removed: true, finishing: ['k1', 'k2'] },
    ],
  });
  expect(shown).toContain('Reloaded: changed Agent/host; 2 kept.');
  expect(shown).toContain('<span class="quiet">updated</span> Extension/guard');
  expect(shown).toContain('<span class="quiet">retained</span> Tool/clock');
  expect(shown).toContain('Its processes are replaced between turns: its environment has changed.');
  expect(shown.match(/Removed.*?: .*?\./g)).toEqual(['Removed. Ends after its running turn: k1, k2.']);
  expect(shown).toContain('because the process was changed often: default.');
});

test('L-05 a refused change is shown with its code, its reason and its place', () => {
  const place = { file: 'guard.ts', line: 3, column: 7 };
  const shown = show({
    at,
    message: 'Nothing was changed.',
    error: { code: 'E_RELOAD_FAILED', message: 'Agent/host does not start with the changed bundle.', place },
  });
  expect(shown).toContain('dot is-failed');
  expect(shown).toContain('E_RELOAD_FAILED');
  expect(shown).toContain('Agent/host does not start with the changed bundle.');
  expect(shown).toContain('guard.ts:3:7');
});

test('without a change, nothing is shown', () => {
  expect(show()).toBe('');
});

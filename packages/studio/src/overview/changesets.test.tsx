import { expect, test } from 'bun:test';
import type { ChangesetView } from '@goondan/cli/studio';
import { renderToStaticMarkup } from 'react-dom/server';
import { Diff } from '../text/diff.tsx';
import { Changesets } from './changesets.tsx';

const changeset: ChangesetView = {
  id: '1f3a9c2b',
  state: 'committed',
  swarm: 'default',
  agent: 'coder',
  instanceKey: 'default',
  openedAt: '2026-01-01T00:00:00.000Z',
  committedAt: '2026-01-01T00:01:00.000Z',
  approvedBy: 'alice',
  files: [
    { path: 'goondan.yaml', change: 'changed' },
    { path: 'tools/greet.ts', change: 'added' },
  ],
  notes: ['The undo was taken back: no'],
};
const show = (...changesets: ChangesetView[]) =>
  renderToStaticMarkup(<Changesets changesets={changesets} workspaceId="w" version={0} />).replaceAll('<!-- -->', '');

test('a changeset is shown with its state, agent, person, files and notes', () => {
  const shown = show(changeset);
  expect(shown).toContain('<code>1f3a9c2b</code> committed ');
  expect(shown).toContain('approved by alice');
  expect(shown).toContain('coder (default) · changed goondan.yaml, added tools/greet.ts');
  expect(shown).toContain('The undo was taken back: no');
  expect(shown).toContain('dot is-running');
});

const { approvedBy: _person, ...unapproved } = changeset;
const { committedAt: _time, ...uncommitted } = changeset;

test.each<[ChangesetView, string]>([
  [{ ...changeset, state: 'undone', undoneAt: '2026-01-01T00:02:00.000Z', undoneBy: 'bob' }, ' by bob'],
  [{ ...changeset, approvedBy: '\u202eeve', approvedVia: 'cli\u200b' }, 'approved by \\u202eeve via cli\\u200b'],
  [unapproved, 'nobody was asked'],
  [{ ...uncommitted, state: 'open', files: [] }, 'no files yet'],
  [{ ...uncommitted, state: 'open' }, 'open since '],
  [{ ...changeset, state: 'applying' }, 'dot is-failed'],
])('the changeset %j says "%s"', (shown, text) => {
  expect(show(shown)).toContain(text);
});

test('without a changeset, nothing is shown', () => {
  expect(show()).toBe('');
});

test('a diff has a colour for each kind of line, and shows its text as text', () => {
  const shown = renderToStaticMarkup(<Diff text={'--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-<b>\n+<i>\n same\n'} />);
  expect(shown).toContain('<span class="diff-file">--- a/x\n</span>');
  expect(shown).toContain('<span class="diff-place">@@ -1,1 +1,1 @@\n</span>');
  expect(shown).toContain('<span class="diff-removed">-&lt;b&gt;\n</span>');
  expect(shown).toContain('<span class="diff-added">+&lt;i&gt;\n</span>');
  expect(shown).toContain('<span> same\n</span>');
});

import { expect, test } from 'bun:test';
import type { AgentView, ExtensionStatusChanged } from '@goondan/cli/studio';
import { renderToStaticMarkup } from 'react-dom/server';
import { AgentTools } from './agent-tools.tsx';
import { ExtensionStates } from './extension-states.tsx';

const status: ExtensionStatusChanged = {
  extension: 'files',
  state: 'connected',
  agentName: 'host',
  instanceKey: 'default',
  timestamp: '2026-01-01T00:00:00.000Z',
  since: '2026-01-01T00:00:00.000Z',
};
const show = (more: Partial<ExtensionStatusChanged>) =>
  renderToStaticMarkup(<ExtensionStates statuses={[{ ...status, ...more }]} />);

test('a connected server: since when, its number of tools, and how often it was lost', () => {
  const shown = show({ tools: ['files__look', 'files__list'], lost: 1, problem: 'SIGKILL ended it.', lines: ['bye'] });
  expect(shown).toContain('dot is-running');
  expect(shown).toMatch(/connected since .* · 2 tools · lost 1 time/);
  expect(shown).toContain('SIGKILL ended it.');
  expect(shown).not.toContain('bye');
});

test('a failed server: the reason, and its last lines, as text and not as markup', () => {
  const shown = show({ state: 'failed', problem: 'It is gone.', lines: ['<b>bad</b>', 'bye'] });
  expect(shown).toContain('dot is-failed');
  expect(shown).toContain('<div class="bad">It is gone.</div>');
  expect(shown).toContain('&lt;b&gt;bad&lt;/b&gt;\nbye');
});

test('withheld tools are listed', () => {
  expect(show({ withheld: [{ name: 'look', problem: 'it changed' }] })).toContain('withheld: look: it changed');
});

test('a tool with its schema in code is listed before its first start', () => {
  const parts = { tools: [], toolSources: [], unknownTools: [], extensions: [], layers: [] };
  const agents = [{ name: 'host', ...parts, schemaInCode: ['Tool/dice'] }];
  expect(renderToStaticMarkup(<AgentTools agents={agents} />)).toMatch(/Tool\/dice(<!-- -->)?: schema in code/);
});

test('every tool with its source and when it was seen; for an unknown server, the command to type', () => {
  const agent: AgentView = {
    name: 'host',
    tools: ['clock__now', 'files__look'],
    toolSources: [
      { name: 'clock__now', from: 'Tool/clock', seenAt: null },
      { name: 'files__look', from: 'Extension/files', seenAt: '2026-01-01T00:00:00.000Z' },
    ],
    unknownTools: [{ extension: 'web', test: 'gdn mcp test web' }],
    extensions: [],
    layers: [],
  };
  const shown = renderToStaticMarkup(<AgentTools agents={[agent]} />).replaceAll(/<!-- -->|<[^>]+>/g, ' ');
  expect(shown).toContain('2 tools');
  expect(shown).toMatch(/web\s*: tools unknown\s+gdn mcp test web/);
  expect(shown).toMatch(/clock__now\s+Tool\/clock\s/);
  expect(shown).toMatch(/files__look\s+Extension\/files\s*, seen \S/);
});

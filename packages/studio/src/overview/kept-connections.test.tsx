import { expect, test } from 'bun:test';
import type { KeptStatus } from '@goondan/cli/studio';
import { renderToStaticMarkup } from 'react-dom/server';
import { KeptConnections } from './kept-connections.tsx';

const kept: KeptStatus = { agent: 'host', extension: 'browser', status: 'listening', crashes: 0 };
const show = (...each: KeptStatus[]) => renderToStaticMarkup(<KeptConnections kept={each} />);

test('L-02 kept connections are shown with their conversation and the state of their server', () => {
  const server = { state: 'connected', since: '2026-01-01T00:00:00.000Z', tools: ['look'] } as const;
  const shown = show({ ...kept, instanceKey: 'default', server }, kept);
  expect(shown).toContain('<h2>Kept connections</h2>');
  expect(shown).toMatch(/host(<!-- -->)? (<!-- -->)?default.*connected since .* · 1 tool/);
  expect(shown).toContain('(all conversations)');
  expect(show()).toBe('');
});

test('L-02 a keeper that does not start is shown with its problem', () => {
  const shown = show({ ...kept, status: 'waiting', problem: 'The keeper ended.' });
  expect(shown).toContain('dot is-failed');
  expect(shown).toContain('<div class="bad">The keeper ended.</div>');
});

// Runs a few scenarios of the official suite; `npm run conformance` runs all of them.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { listScenarios } from './list-scenarios.ts';
import { runScenario } from './run-scenario.ts';

setDefaultTimeout(120_000);

describe('the official suite of the Model Context Protocol', () => {
  test('N-01 requires 32 scenarios of a client, and one of 2025 about questions', async () => {
    const scenarios = await listScenarios();
    const newest = scenarios.filter(({ revision }) => revision === '2026-07-28');
    const signIns = newest.filter(({ name }) => name.startsWith('auth/'));
    expect([newest.length, signIns.length, scenarios.length]).toEqual([32, 25, 33]);
  });

  test.each([
    ['protocol: headers of tool parameters', 'http-custom-headers'],
    ['sign-in and more scopes', 'auth/scope-step-up'],
    ['another authorization server', 'auth/authorization-server-migration'],
  ])('N-01 %s', async (_, name) => {
    const { passed, report } = await runScenario({ name, revision: '2026-07-28' });
    expect([passed, passed ? '' : report]).toEqual([true, '']);
  });
});

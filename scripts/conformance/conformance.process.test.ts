// Runs a few scenarios of the official suite, five of them in `npm run proof`; `npm run proof -- conformance` runs all of them.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sampledCases } from '../../test/samples.ts';
import { listScenarios, type Scenario } from './list-scenarios.ts';
import { runScenario } from './run-scenario.ts';

setDefaultTimeout(120_000);

const few: readonly (readonly [string, Scenario['name'], Scenario['revision']])[] = [
  ['protocol: headers of tool parameters', 'http-custom-headers', '2026-07-28'],
  ['sign-in and more scopes', 'auth/scope-step-up', '2026-07-28'],
  ['another authorization server', 'auth/authorization-server-migration', '2026-07-28'],
  ['questions in results', 'sep-2322-client-request-state', '2026-07-28'],
  ['questions in requests', 'elicitation-sep1034-client-defaults', '2025-11-25'],
];

describe('the official suite of the Model Context Protocol', () => {
  test('N-01 requires 32 scenarios of a client, and one of 2025 about questions', async () => {
    const scenarios = await listScenarios();
    const newest = scenarios.filter(({ revision }) => revision === '2026-07-28');
    const signIns = newest.filter(({ name }) => name.startsWith('auth/'));
    expect([newest.length, signIns.length, scenarios.length]).toEqual([32, 25, 33]);
  });

  test.each([...sampledCases(few, 4)])('N-01 %s', async (_, name, revision) => {
    const { passed, report } = await runScenario({ name, revision });
    expect([passed, passed ? '' : report]).toEqual([true, '']);
  });
});

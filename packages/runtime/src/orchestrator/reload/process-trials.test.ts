import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../ports/clock.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { fakeAgents } from '../../testing/fake-agents.ts';
import { agentChildren } from '../child/agent-children.ts';
import { CurrentPlan } from '../plan/current-plan.ts';
import { processTrials } from './process-trials.ts';

const { cleanups } = closeAfterEach();

test('a trial masks the secrets of the plan in force: the process is told them, and its output is masked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-trials-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const about = { connector: 'web', root: '/', entry: 'web.ts', config: {}, rules: [] };
  const planWith = (secret: string): SwarmPlan => ({
    name: 'test',
    agents: [{ agentName: 'a', models: {}, secrets: [`${secret}-of-agent`] }],
    connections: [{ ...about, connection: 'mail', secrets: { key: `${secret}-of-connection` } }],
  });
  const currentPlan = new CurrentPlan(planWith('old-secret'));
  const plan = currentPlan.preview(planWith('new-secret'));
  const { spawn, children, started } = fakeAgents(async () => '');
  const { restart } = plan.settings.supervision;
  const agents = agentChildren({ spawn, runner: 'none', folder, restart, clock: systemClock, spares: 0 });
  cleanups.push(() => agents.close());
  const printed: ChildOutput[] = [];
  const trials = processTrials({
    spawn,
    clock: systemClock,
    folder,
    swarm: { log: () => undefined, printed: (_whose, output) => void printed.push(output) },
    startChild: (agent, request) => agents.start(agent, request),
    statesOf: async () => ({}),
  });
  const { signal } = new AbortController();
  const [agent] = plan.agents.values();
  const [connection] = plan.plan.connections ?? [];
  if (agent === undefined || connection === undefined) throw new Error('no parts');
  await trials.agent(agent, plan, signal);
  expect(started[0]?.start.masked).toEqual(['old-secret-of-agent']);
  await trials.connection(connection, plan, signal);
  const print = (index: number, text: string) =>
    children[index]?.request.onOutput?.({ kind: 'line', stream: 'stdout', text });
  print(0, 'old-secret-of-agent new-secret-of-agent');
  print(1, 'old-secret-of-connection new-secret-of-connection');
  expect(printed).toMatchObject([{ text: 'On trial: *** ***' }, { text: 'On trial: *** ***' }]);
});

test('L-01 a trial takes the spare where it fits, has a copy of the states, and leaves nothing behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-trials-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const { spawn, children, started } = fakeAgents(async () => '');
  const { value: plan } = new CurrentPlan({
    name: 'test',
    agents: [
      { agentName: 'plain', models: {} },
      { agentName: 'special', models: {}, environment: { NAME: 'value' } },
    ],
  });
  const { restart } = plan.settings.supervision;
  const agents = agentChildren({ spawn, runner: 'none', folder, restart, clock: systemClock, spares: 1 });
  cleanups.push(() => agents.close());
  agents.warmUp();
  const trials = processTrials({
    spawn,
    clock: systemClock,
    folder,
    swarm: { log: () => undefined, printed: () => undefined },
    startChild: (agent, request) => agents.start(agent, request),
    statesOf: async ({ agentName }) => ({ counter: agentName }),
  });
  const { signal } = new AbortController();
  const [plain, special] = [...plan.agents.values()];
  if (plain === undefined || special === undefined) throw new Error('no agents');
  await trials.agent(special, plan, signal);
  await trials.agent(plain, plan, signal);
  expect(started.map(({ start }) => start.states)).toEqual([{ counter: 'special' }, { counter: 'plain' }]);
  // The spare is the first child. The agent with its own environment cannot use it.
  expect(started.map(({ child }) => children.indexOf(child))).toEqual([1, 0]);
  expect(started.every(({ start: { store } }) => 'stateRoot' in store && store.stateRoot.startsWith(folder))).toBe(
    true,
  );
  expect(readdirSync(folder)).toEqual([]);
});

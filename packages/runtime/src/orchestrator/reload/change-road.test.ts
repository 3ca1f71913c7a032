import { describe, expect, test } from 'bun:test';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { systemClock } from '../../ports/clock.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { noParts } from '../../testing/fake-agents.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import type { Connections } from '../connections/connections.ts';
import { swarmReloader, type SwarmChange } from './reload-swarm.ts';
import type { Trials } from './try-changes.ts';

const { openSwarm } = closeAfterEach();

/** Opens a swarm whose agent `a` has a process. `said` lists the moves of a change in their order. */
async function open() {
  const opened = await openSwarm(async () => 'done');
  const { currentPlan, swarm, agents } = opened;
  const connections = { replace: () => undefined } as Pick<Connections, 'replace'> as Connections;
  const said: string[] = [];
  const trials: Trials = {
    agent: async ({ agentName, systemPrompt }) => {
      said.push(`try ${agentName} ${systemPrompt ?? ''}`);
      return noParts;
    },
    connection: async () => undefined,
  };
  const { plan } = currentPlan.value;
  const withPrompt = (systemPrompt: string): SwarmPlan => ({
    ...plan,
    agents: plan.agents.map((agent) => (agent.agentName === 'a' ? { ...agent, systemPrompt } : agent)),
  });
  const reloader = swarmReloader({ currentPlan, swarm, connections, trials, clock: systemClock }, async () =>
    withPrompt('read'),
  );
  await opened.send('a', 'hello');
  agents.onChange = (child, { change, plan: { systemPrompt = '' } }) => {
    said.push(`prepare ${JSON.stringify(systemPrompt).slice(1, -1)}`);
    const error = { code: 'E_EXT_INIT', message: 'no' } as const;
    const answer =
      systemPrompt === 'bad' ? { type: 'change.failed' as const, error } : { type: 'change.ready' as const };
    void child.channel.send({ ...answer, change });
  };
  const withFiles: NonNullable<SwarmChange['withFiles']> = async (apply) => {
    said.push('put');
    const result = await apply().catch((error: unknown) => {
      said.push('put back');
      throw error;
    });
    said.push('done');
    return result;
  };
  return {
    ...opened,
    reloader,
    said,
    withPrompt,
    withFiles,
    inForce: () => currentPlan.value.agents.get('a')?.systemPrompt,
  };
}

describe('a change with files', () => {
  test('L-05 is tried with the paths of the copy, then the files are put, then running processes take it', async () => {
    const { reloader, said, withPrompt, withFiles, inForce, lines } = await open();
    const change = { wanted: withPrompt('new'), onTrial: withPrompt('copy'), withFiles };
    const result = await reloader.onRoad((road) => road.make(change));
    expect(said).toEqual(['try a copy', 'put', 'prepare new', 'done']);
    expect(result.changed).toEqual(['Agent/a']);
    expect(inForce()).toBe('new');
    expect(reloader.reports).toMatchObject([{ message: 'Reloaded: changed Agent/a; 5 kept.' }]);
    expect(lines.filter(({ event }) => event === 'swarm.reloaded')).toHaveLength(1);
  });

  test('L-05 is put back when a process cannot take it', async () => {
    const { reloader, said, withPrompt, withFiles, inForce } = await open();
    const change = { wanted: withPrompt('bad'), withFiles };
    expect(await rejectionOf(reloader.onRoad((road) => road.make(change)))).toMatchObject({ code: 'E_RELOAD_FAILED' });
    expect(said).toEqual(['try a bad', 'put', 'prepare bad', 'put back']);
    expect(inForce()).toBeUndefined();
  });

  test('is not applied when the files cannot be put', async () => {
    const { reloader, said, withPrompt, inForce } = await open();
    const change = { wanted: withPrompt('new'), withFiles: () => Promise.reject(new Error('full')) };
    expect(await rejectionOf(reloader.onRoad((road) => road.make(change)))).toMatchObject({ message: 'full' });
    expect([said, inForce()]).toEqual([['try a new'], undefined]);
  });

  test('waits for the change before it, and a reload waits for it', async () => {
    const { reloader, said, withPrompt, withFiles } = await open();
    const gate = Promise.withResolvers<void>();
    const first = reloader.onRoad(async (road) => {
      await gate.promise;
      return road.make({ wanted: withPrompt('first'), withFiles });
    });
    const second = reloader.reload();
    const change = { wanted: withPrompt('third'), withFiles };
    const third = reloader.onRoad((road) => road.make(change), AbortSignal.abort(new Error('withdrawn')));
    gate.resolve();
    await Promise.all([first, second]);
    expect(said).toEqual(['try a first', 'put', 'prepare first', 'done', 'try a read', 'prepare read']);
    expect(await rejectionOf(third)).toMatchObject({ message: 'withdrawn' });
  });
});

// Kills processes of every kind with kill -9 at random moments, mostly during a turn. `npm run torture` does the same
// for longer.
import { expect } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { samples, testInProof } from '../samples.ts';
import { torture } from './torture.ts';

const KILLS = samples(100);

testInProof(
  `R-03 M-11 ${KILLS} kills of agents, connectors, orchestrators and groups: nothing lost, doubled, unreadable or left`,
  async () => {
    const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-torture-'));
    const report = await torture({ stateRoot, kills: KILLS });
    const { lost, duplicated, unreadable, wrong, orphans } = report;
    expect({ lost, duplicated, unreadable, wrong, orphans }, stateRoot).toEqual({
      lost: [],
      duplicated: [],
      unreadable: [],
      wrong: [],
      orphans: 0,
    });
    // Checks that the kills prove something: each kind of process was killed, most agents during a turn, and some work
    // could have been lost.
    const { agent, connector, orchestrator, 'agent group': agentGroup } = report.kills;
    for (const kills of [agent, agentGroup, connector, orchestrator]) expect(kills).toBeGreaterThan(0);
    expect(report.midTurn).toBeGreaterThan((agent + agentGroup) / 2);
    expect(report.acknowledged).toBeGreaterThan(KILLS / 2);
    expect(report.processes).toBeGreaterThan(orchestrator);
    await rm(stateRoot, { recursive: true, force: true });
  },
  240_000,
);

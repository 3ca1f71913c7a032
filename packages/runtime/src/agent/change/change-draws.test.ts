// The draws that a held extension takes while it is loaded belong to it alone, also while a turn runs.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from '../conversation/memory-store.ts';
import { RegisterDraws } from '../draws/register-draws.ts';
import { watchDraws } from '../draws/watch-draws.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { startAgent } from '../start/start-agent.ts';
import { systemClock } from '../../ports/clock.ts';
import type { DrawScope } from '../../trace/draw-scope.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { watchTurn } from '../../trace/watch-turn.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-change-draws-')));
const stopWatching = watchDraws();
afterAll(() => {
  stopWatching();
  rmSync(root, { recursive: true });
});

test('a change records the draws of its extensions, and a dropped one leaves the others their draws', async () => {
  const write = (version: number) =>
    writeFileSync(
      join(root, 'dice.ts'),
      `export const first = Math.random();
      export async function register(api) {
        globalThis.drawnByHeld = first;
        await globalThis.whileHeldRegisters?.();
        globalThis.drawnLater = Math.random();
        // ${version}
      }`,
    );
  const dice = (version: number) => ({
    resource: {
      apiVersion: 'goondan.ai/v1',
      kind: 'Extension',
      metadata: { name: 'dice' },
      spec: { entry: './dice.ts' },
    } as const,
    root,
    files: ['dice.ts'],
    digest: String(version),
  });
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const registering = Promise.withResolvers<void>();
  const handlers = {
    async roll() {
      reached.resolve();
      await registering.promise;
      // Drawn by a tool while the held extension registers.
      const drawn = Math.random();
      released.resolve();
      return drawn;
    },
  };
  const script = [{ when: 'go', call: { tool: 'work__roll' } }, { say: 'Done.' }];
  const plan = (version: number): AgentPlan => ({
    agentName: 'a',
    models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
    tools: [{ name: 'work', exports: [{ name: 'roll', description: 'Rolls.' }], handlers }],
    extensions: [dice(version)],
  });
  const draws = new RegisterDraws();
  const drewNow = (): unknown => agent.extensionParts.map(({ scope }) => scope && draws.of(scope));
  const global = globalThis as { drawnByHeld?: number; drawnLater?: number; whileHeldRegisters?: () => Promise<void> };
  write(1);
  const scopes: DrawScope[] = [];
  const drawScopeFor = () => {
    const scope = draws.newScope();
    scopes.push(scope);
    return scope;
  };
  const agent = await startAgent(plan(1), { store: memoryStore(), logSink: () => undefined, drawScopeFor });
  const first = [
    ['random', global.drawnByHeld],
    ['random', global.drawnLater],
  ];
  expect(drewNow()).toEqual([first]);
  const turn = agent.handle(inputEvent('e', { input: 'go' }), { observer: watchTurn(systemClock, []) });
  await reached.promise;
  write(2);
  global.whileHeldRegisters = async () => {
    registering.resolve();
    await released.promise;
  };
  const dropped = await agent.prepare(plan(2));
  await turn;
  expect(scopes.map((scope) => draws.of(scope).length)).toEqual([2, 2]);
  await dropped.drop();
  expect(drewNow()).toEqual([first]);
  await (await agent.prepare(plan(3))).swap();
  expect(drewNow()).toEqual([
    [
      ['random', global.drawnByHeld],
      ['random', global.drawnLater],
    ],
  ]);
  expect(drewNow()).not.toEqual([first]);
  await agent.close();
});

// Tests cancelled turns and watched turns.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SwarmNotice } from '@goondan/runtime';
import { textOf } from '@goondan/types';
import { cancelledAgents, type Situation } from './cancelled-agents.ts';
import {
  ask,
  findTagged,
  notesIn,
  openSwarm,
  outcomeOf,
  pidOf,
  readStore,
  runTagOf,
  scriptedAgent,
  temporaryFolder,
  TEST_MS,
  type TestSwarm,
} from './kit.ts';
import { sampledCases } from '../samples.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

const agentsIn = (workdir: string) => [scriptedAgent('clerk', { workdir })];

/** Starts a long turn. Resolves when the tool of the turn runs. */
async function beginLong({ control }: TestSwarm, folder: string, signal?: AbortSignal) {
  const delivery = { id: 'long', input: 'once wait-for:permission' };
  const end = control.ask(delivery, signal === undefined ? {} : { signal });
  await until(() => notesIn(folder).includes('begin turn-long'), { about: 'the tool runs' });
  return { end };
}

describe('a cancelled turn', () => {
  test.each([...sampledCases(['by its event', 'as the one that runs', 'by whoever asked'], 2)])(
    'while it runs, %s: its tool gets the signal, it ends with E_CANCELLED, and the next turn is answered',
    async (how) => {
      await using folder = await temporaryFolder();
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      const { control } = swarm;
      const asking = new AbortController();
      const { end } = await beginLong(swarm, folder.path, asking.signal);
      const before = await pidOf(swarm, 'clerk');
      const next = ask(swarm, 'clerk', 'default', 'hello');
      if (how === 'by whoever asked') asking.abort();
      else
        expect(await control.cancel({ ...(how === 'by its event' && { eventId: 'long' }), reason: 'enough' })).toBe(
          true,
        );
      expect(outcomeOf(await end)).toBe('E_CANCELLED');
      expect(await next).toBe('You said: hello');
      await until(() => notesIn(folder.path).includes('aborted turn-long'), { about: 'the tool was told' });
      expect(await pidOf(swarm, 'clerk')).toBe(before);
      expect(await control.cancel({ eventId: 'long' })).toBe(false);
    },
  );

  test('while it waits: it does not run, and the turn before is not affected', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
    const { end } = await beginLong(swarm, folder.path);
    const waiting = swarm.control.ask({ id: 'waiting', input: 'once wait-for:permission' });
    await until(() => swarm.control.cancel({ eventId: 'waiting' }), { about: 'it is in the queue' });
    expect(await swarm.control.cancel({ eventId: 'waiting' })).toBe(false);
    writeFileSync(join(folder.path, 'permission'), '');
    expect(outcomeOf(await end)).toBe('You said: once wait-for:permission');
    expect(outcomeOf(await waiting)).toBe('E_CANCELLED');
    expect(notesIn(folder.path)).toEqual(['begin turn-long', 'end turn-long']);
  });

  test('with a tool that ignores the signal: it ends, and the next turn is answered', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path), policy: { unwindMs: 200 } });
    const end = swarm.control.ask({ id: 'deaf', input: 'once wait-forever' });
    await until(async () => (await swarm.control.status()).instances[0]?.status === 'working', { about: 'it runs' });
    const next = ask(swarm, 'clerk', 'default', 'hello');
    expect(await swarm.control.cancel({ eventId: 'deaf' })).toBe(true);
    expect(outcomeOf(await end)).toBe('E_CANCELLED');
    expect(await next).toBe('You said: hello');
  });
});

/** Starts a swarm in a separate process, and kills it when it has cancelled a turn that has not ended. */
async function cancelAndDie(folder: string, situation: Situation): Promise<void> {
  const command = [process.execPath, '--no-install', join(import.meta.dir, 'cancelling-swarm.ts'), folder, situation];
  const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  try {
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('cancelled\n');
  } finally {
    const runTag = await runTagOf(folder);
    child.kill('SIGKILL');
    await child.exited;
    await until(() => findTagged(runTag).length === 0, { about: 'the guardian has ended what was left' });
  }
}

describe('a turn that was cancelled before its orchestrator is killed', () => {
  test.each([...sampledCases(['running', 'waiting', 'crashed', 'asking'] as const, 4, 2)])(
    'is not continued by the next one: %s',
    async (situation) => {
      await using folder = await temporaryFolder();
      await cancelAndDie(folder.path, situation);
      const begun = notesIn(folder.path);
      writeFileSync(join(folder.path, 'permission'), '');
      {
        await using swarm = await openSwarm(folder.path, { agents: cancelledAgents(folder.path) });
        for (const agent of ['clerk', 'front'])
          expect(await ask(swarm, agent, 'default', 'hello')).toBe('You said: hello');
      }
      // The turn that was not cancelled runs again.
      expect(notesIn(folder.path).slice(begun.length)).toEqual(
        situation === 'waiting' ? ['begin turn-first', 'end turn-first'] : [],
      );
      // The event was accepted, so its input is kept and marked as cancelled.
      await readStore(folder.path, async (journal) => {
        const found: string[] = [];
        for (const agentName of ['front', 'clerk']) {
          for await (const { result, events } of journal.archive({ agentName, instanceKey: 'default' })) {
            const [first] = events;
            const input = first?.event.type === 'append' ? textOf(first.event.message) : '';
            found.push(`${agentName} ${input}: ${typeof result === 'object' ? (result.error?.code ?? 'ok') : result}`);
          }
        }
        expect(found).toEqual(ended[situation]);
      });
    },
  );

  const ended: Readonly<Record<Situation, string[]>> = {
    running: ['front hello: ok', 'clerk be deaf: E_CANCELLED', 'clerk hello: ok'],
    waiting: [
      'front hello: ok',
      'clerk again wait-for:permission: ok',
      'clerk be deaf: E_CANCELLED',
      'clerk hello: ok',
    ],
    crashed: ['front hello: ok', 'clerk be deaf: E_CANCELLED', 'clerk hello: ok'],
    asking: ['front please: E_CANCELLED', 'front hello: ok', 'clerk be deaf: E_CANCELLED', 'clerk hello: ok'],
  };
});

describe('a watched turn', () => {
  test('is reported piece by piece, to its asker only', async () => {
    await using folder = await temporaryFolder();
    const text = 'one two three four five six seven eight nine ten';
    const options = { script: [{ say: text }], tokensPerSecond: 100 };
    const models = { 'Model/slow': { provider: 'scripted', model: 'slow', options } };
    await using swarm = await openSwarm(folder.path, { agents: [scriptedAgent('clerk', { models })] });
    const noticesOf = async (instanceKey: string) => {
      const notices: SwarmNotice[] = [];
      await swarm.control.ask({ instanceKey, input: 'count' }, { onNotice: (notice) => notices.push(notice) });
      return notices;
    };
    for (const notices of await Promise.all([noticesOf('one'), noticesOf('two')])) {
      const pieces = notices.flatMap((each) =>
        each.type === 'delta' && each.delta.type === 'text' ? [each.delta.text] : [],
      );
      expect(pieces.length).toBeGreaterThan(3);
      expect(pieces.join('')).toBe(text);
      const events = notices.flatMap((each) => (each.type === 'runtime.event' ? [each.name] : []));
      expect(events[0]).toBe('turn.started');
      expect(events.at(-1)).toBe('turn.completed');
      expect(notices.filter(({ type }) => type === 'turn.ended')).toHaveLength(1);
    }
  });

  test('output of its tools is in the log, with secrets masked', async () => {
    await using folder = await temporaryFolder();
    const secret = 'sk-live-"quoted"-12345';
    await using swarm = await openSwarm(folder.path, {
      agents: [scriptedAgent('clerk', { environment: { TOKEN: secret }, secrets: [secret] })],
    });
    await ask(swarm, 'clerk', 'default', 'once print:TOKEN');
    const printed = () => [...swarm.told('process.stdout'), ...swarm.told('process.stderr')];
    await until(() => printed().length === 2, { about: 'both lines are there' });
    for (const { message, agent, instance } of printed()) {
      expect([agent, instance]).toEqual(['clerk', 'default']);
      expect(message).toStartWith('printed ');
      expect(message).not.toContain('quoted');
    }
  });
});

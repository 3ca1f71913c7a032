// Tests events that repeatedly crash their process, and the actions that an operator can take with them.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ask,
  inputsOf,
  notesIn,
  openSwarm,
  outcomeOf,
  pidOf,
  readStore,
  scriptedAgent,
  temporaryFolder,
  TEST_MS,
  type TestSwarm,
} from './kit.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

const clerk = { agentName: 'clerk', instanceKey: 'default' };
const POISON = 'again crash-without:antidote';
const agentsIn = (workdir: string) => [scriptedAgent('clerk', { workdir })];
/** One crash makes a dead letter. The first test has the usual number of crashes. */
const policy = { crashesBeforeDeadLetter: 1 };

async function poison({ control }: TestSwarm, id: string): Promise<void> {
  expect(outcomeOf(await control.ask({ id, input: POISON }))).toBe('E_DEAD_LETTER');
}

describe('a dead letter', () => {
  test('R-03 is listed, also by the next swarm, and its conversation continues', async () => {
    await using folder = await temporaryFolder();
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      await poison(swarm, 'bad');
      expect(swarm.told('event.dead_lettered')).toMatchObject([{ agent: 'clerk', instance: 'default' }]);
      expect(await ask(swarm, 'clerk', 'default', 'hello')).toBe('You said: hello');
      expect(await swarm.control.deadLetters({ agent: 'clerk', instanceKey: 'other' })).toEqual([]);
    }
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      expect(await swarm.control.deadLetters()).toMatchObject([
        { agent: 'clerk', instanceKey: 'default', eventId: 'bad', input: POISON },
      ]);
      // A repeated request for the same event gets the same outcome.
      await poison(swarm, 'bad');
    }
    await readStore(folder.path, async (journal) => {
      expect(inputsOf((await journal.read(clerk)).messages)).toEqual([POISON, 'hello']);
    });
  });

  test.each(['idle', 'working', 'asleep'])('is retried with a new id while its agent is %s', async (state) => {
    await using folder = await temporaryFolder();
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path), policy });
      const { control } = swarm;
      await poison(swarm, 'bad');
      writeFileSync(join(folder.path, 'antidote'), '');
      const retried = Promise.withResolvers<string>();
      await control.watch({ eventId: 'bad~retry', types: ['turn.ended'] }, (notice) => {
        if (notice.type === 'turn.ended') retried.resolve(outcomeOf(notice.end));
      });
      const running = state === 'working' ? control.ask({ input: 'once wait-for:permission' }) : undefined;
      if (state === 'working') await until(() => notesIn(folder.path).length === 1, { about: 'the tool runs' });
      if (state === 'asleep') await control.restart();
      expect((await pidOf(swarm, 'clerk')) === undefined).toBe(state === 'asleep');

      const retry = control.retryDeadLetter({ agent: 'clerk', instanceKey: 'default', eventId: 'bad' });
      if (state === 'working') await control.ask({ instanceKey: 'other', input: 'hello' });
      writeFileSync(join(folder.path, 'permission'), '');
      expect(await retry).toBe(true);
      expect(await retried.promise).toBe(`You said: ${POISON}`);
      if (running !== undefined) expect(outcomeOf(await running)).toBe('You said: once wait-for:permission');
      expect(await control.deadLetters()).toEqual([]);
      expect(await control.retryDeadLetter({ agent: 'clerk', instanceKey: 'default', eventId: 'bad' })).toBe(false);
      expect(await ask(swarm, 'clerk', 'default', 'hello')).toBe('You said: hello');
    }
    await readStore(folder.path, async (journal) => {
      const between = state === 'working' ? ['once wait-for:permission'] : [];
      expect(inputsOf((await journal.read(clerk)).messages)).toEqual([POISON, ...between, POISON, 'hello']);
    });
  });

  test('is dropped for good, and no other one with it', async () => {
    await using folder = await temporaryFolder();
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path), policy });
      await poison(swarm, 'bad');
      await poison(swarm, 'worse');
      expect(await swarm.control.dropDeadLetter({ agent: 'clerk', instanceKey: 'default', eventId: 'bad' })).toBe(true);
      expect(await swarm.control.dropDeadLetter({ agent: 'clerk', instanceKey: 'default', eventId: 'bad' })).toBe(
        false,
      );
      expect(await ask(swarm, 'clerk', 'default', 'hello')).toBe('You said: hello');
    }
    await readStore(folder.path, async (journal) => {
      expect((await journal.deadLetters.list(clerk)).map(({ event }) => event.id)).toEqual(['worse']);
      expect(inputsOf((await journal.read(clerk)).messages)).toEqual([POISON, POISON, 'hello']);
    });
  });
});

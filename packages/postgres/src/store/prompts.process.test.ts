// Tests the prompts of turns whose conversation and trace are in PostgreSQL.
import { expect, test } from '../testing/with-postgres.ts';
import { readPrompts } from '@goondan/runtime/history';
import { sampledCases, samples } from '../../../../test/samples.ts';
import { providerCases } from '../../../runtime/src/agent/model/providers/wire/provider-cases.ts';
import { recordedAgent, recordPrompts } from '../../../runtime/src/testing/record-prompts.ts';
import { openStore } from '../testing/open-store.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { readersOf } from './open-reader.ts';
import { openTraceSink } from './trace-sink.ts';

const TURNS = 5;
const SEEDS = 10;

const { database } = await openTestDatabase();

function openSeams(swarm: string) {
  const { conversations, closeProcess, log } = openStore(database, swarm);
  const traceSink = openTraceSink(database, swarm, { report: () => undefined });
  const close = async () => {
    await closeProcess();
    await log.close();
    await traceSink.close();
  };
  return { store: conversations, traceSink, close };
}

test.each(sampledCases(providerCases, 4))(
  'V-01 %s: the prompt equals the body that the server got',
  async (name, provider) => {
    const seeds = Array.from({ length: samples(SEEDS, 10) }, (_, seed) => 100 + seed);
    console.log(`seeds ${seeds.join(', ')}, ${TURNS} turns each`);
    for (const seed of seeds) {
      const seams = openSeams(name);
      const sent = await recordPrompts(provider, seed, seams, TURNS);
      await seams.close();
      for (const { turnId, bodies } of sent) {
        const { calls } = await readPrompts(readersOf(database, name), { id: turnId });
        const shown = calls.map(({ isExact, body, problems }) => ({
          seed,
          isExact,
          body: JSON.stringify(body),
          problems,
        }));
        expect(shown).toEqual(
          bodies.map((body) => ({ seed, isExact: true, body: JSON.stringify(body), problems: [] })),
        );
      }
    }
  },
);

test('V-01 a turn that has not ended shows the requests so far', async () => {
  const seams = openSeams('open');
  const reached = Promise.withResolvers<void>();
  const script = [{ when: '^look', call: { tool: 'wait__here', args: {} } }];
  const agent = await recordedAgent(
    {
      agentName: 'a',
      models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
      tools: [
        {
          name: 'wait',
          exports: [{ name: 'here', description: 'Waits.' }],
          handlers: { here: () => (reached.resolve(), new Promise<never>(() => undefined)) },
        },
      ],
    },
    seams,
  );
  const never = agent.say('look');
  never.catch(() => undefined);
  await reached.promise;
  await agent.flush();
  await seams.traceSink.close();
  const { calls, turn } = await readPrompts(readersOf(database, 'open'));
  expect(turn.finishReason).toBeUndefined();
  expect(calls).toMatchObject([{ isExact: true, request: { messages: [{ message: { content: 'look' } }] } }]);
});

import { describe, expect, test } from '../testing/with-postgres.ts';
import { createUserMessage } from '@goondan/types';
import { fakeEvent } from '../../../runtime/src/testing/fake-swarm.ts';
import { blobConformance, inboxConformance, storeConformance } from '@goondan/runtime/testing';
import { defaultLimits } from '@goondan/runtime/internal';
import { countStatements } from '../testing/count-statements.ts';
import { openCutDatabase } from '../testing/cutting-proxy.ts';
import { openStore, type OpenStoreOptions } from '../testing/open-store.ts';
import { sampleStep } from '../../../../test/samples.ts';
import { openTestDatabase } from '../testing/test-database.ts';

const { address, database } = await openTestDatabase();
const { proxy, cut } = await openCutDatabase(address);
let swarms = 0;

type Opened = ReturnType<typeof openStore>;

/** Opens seams for a suite. `next` ends the process or the node, and opens the next one. */
function openSwarm(
  next: (before: Opened, swarm: string) => Promise<Opened>,
  options: OpenStoreOptions = {},
  at = database,
) {
  return async () => {
    const swarm = `swarm ${++swarms}`;
    let opened = openStore(at, swarm, options);
    return {
      seams: opened,
      async again() {
        opened = await next(opened, swarm);
        return opened;
      },
      end: () => opened.log.close(),
    };
  };
}

const eager = { writer: { limits: { ...defaultLimits, checkpointBytes: 1 } } };
let nodes = 0;

const lives = {
  'the process ends': openSwarm(async (before, swarm) => {
    await before.closeProcess();
    await before.log.close();
    return openStore(database, swarm);
  }),
  'the process is killed and the node lives': openSwarm(async ({ log }, swarm) => {
    await log.close();
    return openStore(database, swarm);
  }),
  'another node takes over': openSwarm(async ({ log }, swarm) => {
    await log.close();
    return openStore(database, swarm, { node: `node ${++nodes}` });
  }),
  'every turn writes a checkpoint': openSwarm(async (before, swarm) => {
    await before.closeProcess();
    await before.log.close();
    return openStore(database, swarm, eager);
  }, eager),
};

// Each of the other two lives differs from one of these in one step less, so only `npm run proof` has them.
const chosen = ['another node takes over', 'every turn writes a checkpoint'];

for (const [life, open] of Object.entries(lives)) {
  if (sampleStep !== 1 && !chosen.includes(life)) continue;
  describe(`S-01 a store in PostgreSQL conforms when ${life}`, () => {
    describe('conversations', () => storeConformance(test, open));
    describe('inbox', () => inboxConformance(test, open));
  });
}

describe('Y-02 S-01 files in PostgreSQL conform', () => blobConformance(test, lives['another node takes over']));

describe('S-03 a store in PostgreSQL conforms when connections are cut', () => {
  // `npm run proof` runs all checks with each of the two alone.
  const ways = { 'before or after': ['before', 'after'], before: ['before'], after: ['after'] } as const;
  for (const [when, moments] of Object.entries(ways).slice(0, sampleStep === 1 ? undefined : 1)) {
    const options = { mayRepeat: () => true };
    const open = openSwarm(
      async ({ log }, swarm) => {
        await log.close();
        return openStore(cut, swarm, options);
      },
      options,
      cut,
    );
    const openCut = async () => {
      // Every fifth statement, so that each statement is cut in some check, and its repetition goes through.
      proxy.cutWhen((statement) => (statement % 5 === 0 ? moments[(statement / 5) % moments.length] : undefined));
      const opened = await open();
      return {
        ...opened,
        async end() {
          proxy.cutWhen(undefined);
          await opened.end();
        },
      };
    };
    describe(`${when} a statement`, () => {
      describe('conversations', () => storeConformance(test, openCut));
      describe('inbox', () => inboxConformance(test, openCut));
      describe('Y-02 files', () => blobConformance(test, openCut));
    });
  }
});

describe('statements', () => {
  const instance = { agentName: 'coder', instanceKey: 'key' };

  test('a warm turn of one step is two statements: accept and commit', async () => {
    const counted = countStatements(database);
    const { inbox, conversations } = openStore(counted, `swarm ${++swarms}`);
    const runTurn = async (id: string) => {
      const event = fakeEvent(id, { id, instanceKey: 'key' });
      const { seq = 0 } = await inbox.accept(instance, event);
      const turnId = `turn-${id}`;
      const { epoch } = await conversations.open(instance, turnId, { seq, event });
      const messages = [createUserMessage(id)];
      const result = { turnId, finishReason: 'text_response' } as const;
      await conversations.commit(instance, epoch, turnId, { type: 'append', messages }, {}, result);
    };
    await runTurn('cold');
    counted.take();
    await runTurn('warm');
    expect(counted.take()).toHaveLength(2);
  });

  test('a record that need not be durable costs no statement, and survives the process', async () => {
    const counted = countStatements(database);
    const swarm = `swarm ${++swarms}`;
    const { conversations, log } = openStore(counted, swarm, { waitMs: 1e6 });
    const { epoch } = await conversations.open(instance, 'turn-a');
    counted.take();
    const record = {
      type: 'message',
      event: { type: 'append', message: createUserMessage('a') },
      author: { kind: 'input' },
    } as const;
    await conversations.append(instance, epoch, 0, [record]);
    expect(counted.take()).toEqual([]);
    const { frames } = await log.load(instance);
    expect(frames).toHaveLength(2);
  });
});

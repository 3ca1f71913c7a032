// Tools and extensions that misbehave: each hurts its own agent only.
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { TurnEnd } from '@goondan/runtime';
import { memoryInUse } from '../memory-in-use.ts';
import {
  ask,
  askWhile,
  codeOf,
  commandOf,
  extensionOf,
  findTagged,
  inputsOf,
  openSwarm,
  outcomeOf,
  pidOf,
  quickPolicy,
  readStore,
  scriptedAgent,
  temporaryFolder,
  TEST_MS,
  type TestSwarm,
  until,
  watchLoop,
} from './kit.ts';

type Way = 'once' | 'again' | 'layer';
type Outcomes = Partial<Record<Way, string>>;

/** Two crashes are as good as three, and sooner over. */
const policy = { ...quickPolicy, crashesBeforeDeadLetter: 2 };

/** A process that only works hard answers late on a busy machine. It is not killed for that where nothing hangs. */
const patientPolicy = { ...policy, heartbeat: { everyMs: 250, missedPings: 100 } };
const agents = [scriptedAgent('good'), scriptedAgent('bad', { extensions: [extensionOf('misbehaving')] })];

/** The call is told to the model as interrupted; what may be repeated, and what is no tool call, ends the process again. */
const endsItsProcess: Outcomes = { once: 'answered', again: 'E_DEAD_LETTER', layer: 'E_DEAD_LETTER' };
const doesNoHarm: Outcomes = { once: 'answered', again: 'answered', layer: 'answered' };
/** A tool that throws tells the model; a layer that throws ends its turn. */
const failsItsTurn: Outcomes = { once: 'answered', again: 'answered', layer: 'E_EXT_MIDDLEWARE' };

/** What is told when it really happened. */
const cases: readonly (readonly [deed: string, sign: string, expected: Outcomes])[] = [
  ['loop-forever', 'process.hung', endsItsProcess],
  ['exit-0', 'process.exited', endsItsProcess],
  ['exit-1', 'process.exited', endsItsProcess],
  ['kill-itself', 'process.exited', endsItsProcess],
  ['flood-and-block', 'process.hung', endsItsProcess],
  ['flood-stdout', 'process.stdout', doesNoHarm],
  ['flood-stderr', 'process.stderr', doesNoHarm],
  ['throw-text', 'turn.failed', failsItsTurn],
  ['throw-null', 'turn.failed', failsItsTurn],
  ['throw-trap', 'turn.failed', failsItsTurn],
  ['speak-too-long', 'frame.refused', doesNoHarm],
];

/** What these come to is a race between the deed and the end of the turn. */
const races: readonly (readonly [deed: string, sign: string])[] = [
  ['reject-unheard', 'process.uncaught'],
  ['throw-later', 'process.uncaught'],
  ['close-channel', 'process.cut_off'],
  ['speak-nonsense', 'frame.refused'],
  ['forge-frames', 'frame.refused'],
  ['flood-log', 'flood'],
];

describe('R-03 what one agent does hurts nobody else', () => {
  test.each(cases)(
    'R-03 %s: the other agent answers, the orchestrator is awake, nothing accepted is lost',
    async (deed, sign, expected) => {
      await using folder = await temporaryFolder();
      {
        const hangs = sign === 'process.hung';
        await using swarm = await openSwarm(folder.path, { agents, policy: hangs ? policy : patientPolicy });
        expect(await misbehave(swarm, deed, ['once', 'again', 'layer'])).toEqual(expected);
        expect(swarm.told(sign)).not.toBeEmpty();
        await expectService(swarm, expected);
      }
      await expectOnDisk(folder.path, deed, expected);
    },
    TEST_MS,
  );

  test.each(races)(
    'R-03 %s: the same, and its turn is answered or dead-lettered',
    async (deed, sign) => {
      await using folder = await temporaryFolder();
      let outcomes: Outcomes;
      {
        await using swarm = await openSwarm(folder.path, { agents, policy: patientPolicy });
        outcomes = await misbehave(swarm, deed, ['once', 'again', 'layer']);
        for (const outcome of Object.values(outcomes)) expect(['answered', 'E_DEAD_LETTER']).toContain(outcome);
        expect(swarm.told(sign)).not.toBeEmpty();
        await expectService(swarm, outcomes);
      }
      await expectOnDisk(folder.path, deed, outcomes);
    },
    TEST_MS,
  );

  // One at a time: it is the machine that has so much memory once only.
  test.each(['once', 'layer'] as const)(
    'R-03 fill-memory, %s: the same, and the memory is its own',
    async (way) => {
      await using folder = await temporaryFolder();
      await using swarm = await openSwarm(folder.path, { agents, policy: patientPolicy });
      expect(await misbehave(swarm, 'fill-memory', [way])).toEqual({ [way]: 'answered' });
      const status = readFileSync(`/proc/${await pidOf(swarm, 'bad', way)}/status`, 'utf8');
      expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])).toBeGreaterThan(500_000);
      await expectService(swarm, { [way]: 'answered' });
    },
    TEST_MS,
  );
});

/** Does it in every way at once, and asks the other agent all the while. */
async function misbehave(swarm: TestSwarm, deed: string, ways: readonly Way[]): Promise<Outcomes> {
  await ask(swarm, 'good', 'default', 'hello');
  const before = await pidOf(swarm, 'good');
  const memory = memoryInUse();
  using loop = watchLoop();
  const done = Promise.all(
    ways.map(async (way) => {
      const end = await swarm.control.ask({ agent: 'bad', instanceKey: way, id: `${way}-1`, input: `${way} ${deed}` });
      return [way, toOutcome(end, `${way} ${deed}`)] as const;
    }),
  );
  // Not even other instances of the same agent.
  const healthy = ask(swarm, 'bad', 'healthy', 'hello');
  expect(await askWhile(swarm, 'good', done)).toBeGreaterThanOrEqual(3);
  expect(await healthy).toBe('You said: hello');
  expect(await pidOf(swarm, 'good')).toBe(before);
  expect(loop.longestWorkMs).toBeLessThan(1_000);
  // What it floods with is several times this.
  expect((memoryInUse() - memory) / 1e6).toBeLessThan(200);
  return Object.fromEntries(await done);
}

async function expectService(swarm: TestSwarm, outcomes: Outcomes): Promise<void> {
  for (const way of Object.keys(outcomes)) expect(await ask(swarm, 'bad', way, 'hello')).toBe('You said: hello');
}

function toOutcome(end: TurnEnd, input: string): string {
  const outcome = outcomeOf(end);
  return outcome === `You said: ${input}` ? 'answered' : outcome;
}

/** Each input once, in order; nothing waits; a dead letter for each event that became one. */
async function expectOnDisk(stateRoot: string, deed: string, outcomes: Outcomes): Promise<void> {
  await readStore(stateRoot, async (journal) => {
    for (const [way, outcome] of Object.entries(outcomes)) {
      const at = { agentName: 'bad', instanceKey: way };
      expect(inputsOf((await journal.read(at)).messages)).toEqual([`${way} ${deed}`, 'hello']);
      expect(await journal.pending(at)).toEqual([]);
      const letters = (await journal.deadLetters.list(at)).map(({ event }) => event.id);
      expect(letters).toEqual(outcome === 'E_DEAD_LETTER' ? [`${way}-1`] : []);
    }
  });
}

describe('a tool that logs without end', () => {
  test(
    'R-03 is cut short: what is too much is let go, and counted',
    async () => {
      await using folder = await temporaryFolder();
      await using swarm = await openSwarm(folder.path, { agents, policy: patientPolicy });
      const done = ask(swarm, 'bad', 'default', 'once log:10000');
      expect(await askWhile(swarm, 'good', done)).toBeGreaterThanOrEqual(1);
      expect(await done).toBe('You said: once log:10000');
      await until(() => swarm.told('frames.dropped').length > 0, 'it is told');
    },
    TEST_MS,
  );
});

describe('programs that a tool leaves running', () => {
  test.each(['asked to go', 'killed'])(
    'R-03 go with its process when that is %s',
    async (how) => {
      await using folder = await temporaryFolder();
      await using swarm = await openSwarm(folder.path, { agents });
      await ask(swarm, 'bad', 'default', 'once leave-programs');
      const programs = () => findTagged(swarm.runTag).filter((pid) => commandOf(pid).startsWith('sleep'));
      await until(() => programs().length === 10, 'the programs run');
      if (how === 'asked to go') await swarm.control.restart({ agent: 'bad' });
      else process.kill((await pidOf(swarm, 'bad')) ?? 0, 'SIGKILL');
      await until(() => swarm.told('process.exited').length === 1, 'the process is gone');
      expect(programs()).toEqual([]);
      // One that goes by itself ends them too. The orchestrator may look while they end, and tells of them then.
      if (how === 'killed') expect(swarm.told('process.left_behind')).toHaveLength(1);
    },
    TEST_MS,
  );
});

describe('an extension that misbehaves while it starts', () => {
  const fails = [
    ['loop-forever', 'E_AGENT_START'],
    ['wait-forever', 'E_AGENT_START'],
    ['exit-0', 'E_AGENT_START'],
    ['kill-itself', 'E_AGENT_START'],
    ['throw-text', 'E_EXT_INIT'],
    ['throw-trap', 'E_EXT_INIT'],
  ] as const;

  test(
    'X-03 fails the start: who asks is told, others are answered, and what was accepted is handled when it is mended',
    async () => {
      await using folder = await temporaryFolder();
      const broken = fails.map(([deed]) =>
        scriptedAgent(`bad-${deed}`, { extensions: [extensionOf('misbehaving', { atStart: deed })] }),
      );
      {
        await using swarm = await openSwarm(folder.path, {
          agents: [scriptedAgent('good'), ...broken],
          policy: { ...quickPolicy, startTimeoutMs: 2_000 },
        });
        await ask(swarm, 'good', 'default', 'hello');
        using loop = watchLoop();
        const told = Promise.all(
          fails.map(async ([deed]) => codeOf(swarm.control.ask({ agent: `bad-${deed}`, id: 'kept', input: deed }))),
        );
        expect(await askWhile(swarm, 'good', told)).toBeGreaterThanOrEqual(3);
        expect(await told).toEqual(fails.map(([, code]) => code));
        expect(loop.longestWorkMs).toBeLessThan(1_000);
        // Whoever asks later need not wait for another three starts.
        const later = swarm.control.ask({ agent: 'bad-exit-0', id: 'later', input: 'later' });
        expect(await codeOf(later)).toBe('E_AGENT_START');
        const problems = (await swarm.control.status()).instances.filter(({ problem }) => problem !== undefined);
        expect(problems).toHaveLength(fails.length);
      }
      const mended = fails.map(([deed]) => scriptedAgent(`bad-${deed}`));
      {
        await using swarm = await openSwarm(folder.path, { agents: mended });
        await until(
          async () => (await swarm.control.status()).instances.every(({ queued }) => queued === 0),
          'all is handled',
        );
      }
      await readStore(folder.path, async (journal) => {
        for (const [deed] of fails) {
          const at = { agentName: `bad-${deed}`, instanceKey: 'default' };
          const expected = deed === 'exit-0' ? [deed, 'later'] : [deed];
          expect(inputsOf((await journal.read(at)).messages)).toEqual(expected);
        }
      });
    },
    TEST_MS,
  );
});

describe('an extension that misbehaves while it is cleaned up', () => {
  test(
    'X-17 has the grace period and no more, and what was said is kept',
    async () => {
      await using folder = await temporaryFolder();
      const deeds = ['loop-forever', 'wait-forever', 'exit-1', 'throw-trap', 'kill-itself'];
      {
        await using swarm = await openSwarm(folder.path, {
          agents: deeds.map((deed) =>
            scriptedAgent(`bad-${deed}`, { extensions: [extensionOf('misbehaving', { atEnd: deed })] }),
          ),
        });
        await Promise.all(deeds.map(async (deed) => ask(swarm, `bad-${deed}`, 'default', deed)));
        await swarm.control.stop({ graceMs: 1_000 });
        expect(findTagged(swarm.runTag)).toEqual([]);
        // None of it is a crash: there was nothing left to do.
        expect(swarm.told('process.exited').map(({ level }) => level)).toEqual(deeds.map(() => 'info'));
      }
      await readStore(folder.path, async (journal) => {
        for (const deed of deeds) {
          const { messages } = await journal.read({ agentName: `bad-${deed}`, instanceKey: 'default' });
          expect(inputsOf(messages)).toEqual([deed]);
        }
      });
    },
    TEST_MS,
  );
});

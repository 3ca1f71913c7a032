// Tests tools and extensions that misbehave: each affects only its own agent.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { TurnEnd } from '@goondan/runtime';
import { memoryInUse } from '../memory-in-use.ts';
import { sampledCases, sampleStep } from '../samples.ts';
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
  type TestFolder,
  type TestSwarm,
  watchLoop,
} from './kit.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

const allWays = ['once', 'again', 'layer'] as const;
type Way = (typeof allWays)[number];
type Outcomes = Readonly<Record<Way, string>>;

/** The limit is two crashes, because two prove as much as three, and are faster. */
const policy = { ...quickPolicy, crashesBeforeDeadLetter: 2 };

/**
 * A policy for tests in which nothing hangs. A busy process may answer late on a busy machine, and must not be killed
 * for that.
 */
const patientPolicy = { ...policy, heartbeat: { everyMs: 250, missedPings: 100 } };
const agents = [scriptedAgent('good'), scriptedAgent('bad', { extensions: [extensionOf('misbehaving')] })];

/**
 * The outcomes of a misdeed that ends its process. After the restart, the model gets the call as interrupted. A
 * repeatable call, or a layer, ends the process again.
 */
const endsItsProcess: Outcomes = { once: 'answered', again: 'E_DEAD_LETTER', layer: 'E_DEAD_LETTER' };
const doesNoHarm: Outcomes = { once: 'answered', again: 'answered', layer: 'answered' };
/**
 * The outcomes of a misdeed that throws. If a tool throws, the model gets an error. If a layer throws, its turn ends.
 */
const failsItsTurn: Outcomes = { once: 'answered', again: 'answered', layer: 'E_EXT_MIDDLEWARE' };

/**
 * The size of a flood in megabytes, for each of the three ways. The orchestrator may need as much memory for all of
 * them together.
 */
const flood = sampleStep === 1 ? 200 : 70;

/** The misdeeds, each with a log event (`sign`) which shows that the misdeed really happened. */
const cases: readonly (readonly [deeds: string, sign: string, expected: Outcomes])[] = [
  ['block-forever, loop-forever', 'process.hung', endsItsProcess],
  ['exit-0, exit-1, kill-itself', 'process.exited', endsItsProcess],
  // Each of its two misdeeds is in the list on its own.
  ...(sampleStep === 1 ? [[`flood-and-block:${flood}`, 'process.hung', endsItsProcess] as const] : []),
  [`flood-stdout:${flood}`, 'process.stdout', doesNoHarm],
  ['throw-text, throw-null, throw-trap', 'turn.failed', failsItsTurn],
  // A flood of standard error goes the same way as one of standard output.
  ...(sampleStep === 1 ? [[`flood-stderr:${flood}`, 'process.stderr', doesNoHarm] as const] : []),
  ['speak-too-long', 'frame.refused', endsItsProcess],
];

/** Misdeeds whose outcome depends on a race between the misdeed and the end of the turn. */
const races: readonly (readonly [deeds: string, sign: string])[] = [
  ['reject-unheard, throw-later', 'process.uncaught'],
  ['close-channel', 'process.cut_off'],
  ['speak-nonsense, forge-frames', 'frame.refused'],
  [`flood-log:${flood / 2}`, 'flood'],
];

/**
 * In `npm test` these misdeeds are committed in fewer ways. Some are like another misdeed in the list; some use much of
 * the processor; the floods still exceed the memory limit. `npm run proof` tries all ways.
 */
const fewerWays: Readonly<Record<string, readonly Way[]>> = {
  'block-forever': ['again', 'layer'],
  'loop-forever': ['once'],
  'exit-0': ['once'],
  'exit-1': ['again'],
  'kill-itself': ['layer'],
  [`flood-stdout:${flood}`]: ['layer'],
  'throw-text': ['layer'],
  'throw-null': ['layer'],
  'throw-trap': ['once', 'layer'],
  'speak-too-long': ['again', 'layer'],
  'reject-unheard': ['layer'],
  'throw-later': ['again'],
  'close-channel': ['once'],
  'speak-nonsense': ['layer'],
  'forge-frames': ['again'],
  [`flood-log:${flood / 2}`]: ['once'],
};

/** One misdeed, committed in one way. */
interface Act {
  readonly way: Way;
  readonly deed: string;
}

function actsOf(deeds: string): readonly Act[] {
  return deeds.split(', ').flatMap((deed) => {
    const ways = sampleStep === 1 ? allWays : (fewerWays[deed] ?? allWays);
    return ways.map((way) => ({ way, deed }));
  });
}

describe('R-03 the deeds of one agent do not affect others', () => {
  // Two swarms for all tests: each misdeed has instances of its own.
  const folders: TestFolder[] = [];
  let strict: TestSwarm;
  let patient: TestSwarm;
  beforeAll(async () => {
    folders.push(await temporaryFolder(), await temporaryFolder());
    const [one = '', other = ''] = folders.map(({ path }) => path);
    [strict, patient] = [
      await openSwarm(one, { agents, policy }),
      await openSwarm(other, { agents, policy: patientPolicy }),
    ];
  });
  afterAll(async () => {
    await strict[Symbol.asyncDispose]();
    await patient[Symbol.asyncDispose]();
    for (const folder of folders) await folder[Symbol.asyncDispose]();
  });

  test.each(cases)(
    'R-03 %s: the other agent answers, the orchestrator responds, and no accepted event is lost',
    async (deeds, sign, expected) => {
      const swarm = sign === 'process.hung' ? strict : patient;
      const acts = actsOf(deeds);
      const found = await misbehave(swarm, acts);
      expect(found).toEqual(new Map(acts.map((act) => [act, expected[act.way]])));
      expectSigns(swarm, sign, acts);
      await expectService(swarm, found);
    },
  );

  test.each(races)('R-03 %s: the same, and its turn is answered or a dead letter', async (deeds, sign) => {
    const acts = actsOf(deeds);
    const found = await misbehave(patient, acts);
    for (const outcome of found.values()) expect(['answered', 'E_DEAD_LETTER']).toContain(outcome);
    expectSigns(patient, sign, acts);
    await expectService(patient, found);
  });

  // These tests run one at a time, because the machine has enough memory for only one. In `npm test` there is only one.
  test.each((['once', 'layer'] as const).slice(0, sampleStep === 1 ? 2 : 1))(
    'R-03 fill-memory, %s: the same, and the memory is its own',
    async (way) => {
      const megabytes = sampleStep === 1 ? 2_000 : 500;
      const act: Act = { way, deed: `fill-memory:${megabytes}` };
      const found = await misbehave(patient, [act]);
      expect([...found.values()]).toEqual(['answered']);
      const status = readFileSync(`/proc/${await pidOf(patient, 'bad', keyOf(act))}/status`, 'utf8');
      expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])).toBeGreaterThan(400_000);
      await expectService(patient, found);
    },
  );
});

/** Commits all of these acts at once. Meanwhile it keeps asking the other agent. Returns the outcome of each act. */
async function misbehave(swarm: TestSwarm, acts: readonly Act[]): Promise<ReadonlyMap<Act, string>> {
  await ask(swarm, 'good', 'default', 'hello');
  const before = await pidOf(swarm, 'good');
  const memory = memoryInUse();
  using loop = watchLoop();
  const done = Promise.all(
    acts.map(async (act) => {
      const input = inputOf(act);
      const end = await swarm.control.ask({ agent: 'bad', instanceKey: keyOf(act), id: idOf(act), input });
      return [act, toOutcome(end, input)] as const;
    }),
  );
  // Other instances of the same agent are not affected either.
  const healthy = ask(swarm, 'bad', 'healthy', 'hello');
  // The first answer came before the end of the acts; a short act leaves no time for more.
  expect(await askWhile(swarm, 'good', done)).toBeGreaterThanOrEqual(2);
  expect(await healthy).toBe('You said: hello');
  expect(await pidOf(swarm, 'good')).toBe(before);
  expect(loop.longestWorkMs).toBeLessThan(1_000);
  expect((memoryInUse() - memory) / 1e6).toBeLessThan(flood);
  return new Map(await done);
}

/** Checks that each misdeed has left its sign in the log. */
function expectSigns(swarm: TestSwarm, sign: string, acts: readonly Act[]): void {
  const told = new Set(swarm.told(sign).map(({ instance }) => instance));
  const deeds = (some: readonly Act[]) => [...new Set(some.map(({ deed }) => deed))];
  expect(deeds(acts.filter((act) => told.has(keyOf(act))))).toEqual(deeds(acts));
}

/** Checks that each instance is answered again, and what is stored. Then ends its process, which may have much memory. */
async function expectService(swarm: TestSwarm, outcomes: ReadonlyMap<Act, string>): Promise<void> {
  for (const act of outcomes.keys()) {
    const instanceKey = keyOf(act);
    expect(await ask(swarm, 'bad', instanceKey, 'hello')).toBe('You said: hello');
    expect(await swarm.control.restart({ agent: 'bad', instanceKey })).toBe(1);
  }
  await expectOnDisk(swarm.stateRoot, outcomes);
}

/** Returns the key of the instance that commits this act. */
const keyOf = ({ way, deed }: Act) => `${way}-${deed}`;
const inputOf = ({ way, deed }: Act) => `${way} ${deed}`;
const idOf = ({ way }: Act) => `${way}-1`;

function toOutcome(end: TurnEnd, input: string): string {
  const outcome = outcomeOf(end);
  return outcome === `You said: ${input}` ? 'answered' : outcome;
}

/** Checks that each input is there once and in order, that nothing is queued, and that each dead letter is stored. */
async function expectOnDisk(stateRoot: string, outcomes: ReadonlyMap<Act, string>): Promise<void> {
  await readStore(stateRoot, async (journal) => {
    for (const [act, outcome] of outcomes) {
      const at = { agentName: 'bad', instanceKey: keyOf(act) };
      expect(inputsOf((await journal.read(at)).messages)).toEqual([inputOf(act), 'hello']);
      expect(await journal.pending(at)).toEqual([]);
      const letters = (await journal.deadLetters.list(at)).map(({ event }) => event.id);
      expect(letters).toEqual(outcome === 'E_DEAD_LETTER' ? [idOf(act)] : []);
    }
  });
}

describe('a tool that logs without end', () => {
  test('is limited: further lines are dropped and counted', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents, policy: patientPolicy });
    const done = ask(swarm, 'bad', 'default', 'once log:10000');
    expect(await askWhile(swarm, 'good', done)).toBeGreaterThanOrEqual(1);
    expect(await done).toBe('You said: once log:10000');
    await until(() => swarm.told('frames.dropped').length > 0, { about: 'it is told' });
  });
});

describe('programs that a tool leaves running', () => {
  test.each([...sampledCases(['asked to go', 'killed'], 2, 1)])('end with its process when that is %s', async (how) => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents });
    await ask(swarm, 'bad', 'default', 'once leave-programs');
    const programs = () => findTagged(swarm.runTag).filter((pid) => commandOf(pid).startsWith('sleep'));
    await until(() => programs().length === 10, { about: 'the programs run' });
    if (how === 'asked to go') await swarm.control.restart({ agent: 'bad' });
    else process.kill((await pidOf(swarm, 'bad')) ?? 0, 'SIGKILL');
    await until(() => swarm.told('process.exited').length === 1, { about: 'the process is gone' });
    expect(programs()).toEqual([]);
    // After an exit by itself, this is not checked. Such a process also ends its programs, and the orchestrator
    // reports them only if it looks while they end.
    if (how === 'killed') expect(swarm.told('process.left_behind')).toHaveLength(1);
  });
});

describe('an extension that misbehaves at its start', () => {
  const likeOthers = [
    ['wait-forever', 'E_AGENT_START'],
    ['kill-itself', 'E_AGENT_START'],
    ['throw-text', 'E_EXT_INIT'],
  ] as const;
  const fails = [
    ['block-forever', 'E_AGENT_START'],
    ['exit-0', 'E_AGENT_START'],
    ['throw-trap', 'E_EXT_INIT'],
    ...(sampleStep === 1 ? likeOthers : []),
  ] as const;

  // After three crashes the swarm waits longer than usual, because further starts of all agents would take too much
  // processor time.
  const restart = { ...quickPolicy.restart, baseMs: 2_000, maxMs: 10_000 };

  test('X-03 fails the start: callers get the error, others are answered, and accepted events are handled after a fix', async () => {
    await using folder = await temporaryFolder();
    const broken = fails.map(([deed]) =>
      scriptedAgent(`bad-${deed}`, { extensions: [extensionOf('misbehaving', { atStart: deed })] }),
    );
    {
      await using swarm = await openSwarm(folder.path, {
        agents: [scriptedAgent('good'), ...broken],
        policy: { ...quickPolicy, startTimeoutMs: 2_000, restart },
      });
      await ask(swarm, 'good', 'default', 'hello');
      using loop = watchLoop();
      const told = Promise.all(
        fails.map(async ([deed]) => codeOf(swarm.control.ask({ agent: `bad-${deed}`, id: 'kept', input: deed }))),
      );
      expect(await askWhile(swarm, 'good', told)).toBeGreaterThanOrEqual(3);
      expect(await told).toEqual(fails.map(([, code]) => code));
      expect(loop.longestWorkMs).toBeLessThan(1_000);
      // Later callers must not wait for another three attempts to start.
      const later = swarm.control.ask({ agent: 'bad-exit-0', id: 'later', input: 'later' });
      expect(await codeOf(later)).toBe('E_AGENT_START');
      const problems = (await swarm.control.status()).instances.filter(({ problem }) => problem !== undefined);
      expect(problems).toHaveLength(fails.length);
    }
    const mended = fails.map(([deed]) => scriptedAgent(`bad-${deed}`));
    {
      await using swarm = await openSwarm(folder.path, { agents: mended });
      await until(async () => (await swarm.control.status()).instances.every(({ queued }) => queued === 0), {
        about: 'all is handled',
      });
    }
    await readStore(folder.path, async (journal) => {
      for (const [deed] of fails) {
        const at = { agentName: `bad-${deed}`, instanceKey: 'default' };
        const expected = deed === 'exit-0' ? [deed, 'later'] : [deed];
        expect(inputsOf((await journal.read(at)).messages)).toEqual(expected);
      }
    });
  });
});

describe('an extension that misbehaves in its cleanup', () => {
  test('has the grace period and no more, and the conversation is kept', async () => {
    await using folder = await temporaryFolder();
    const deeds = sampledCases(['block-forever', 'wait-forever', 'exit-1', 'throw-trap', 'kill-itself'], 3);
    {
      await using swarm = await openSwarm(folder.path, {
        agents: deeds.map((deed) =>
          scriptedAgent(`bad-${deed}`, { extensions: [extensionOf('misbehaving', { atEnd: deed })] }),
        ),
      });
      await Promise.all(deeds.map(async (deed) => ask(swarm, `bad-${deed}`, 'default', deed)));
      await swarm.control.stop({ graceMs: 1_000 });
      expect(findTagged(swarm.runTag)).toEqual([]);
      // None of these exits counts as a crash, because no work was left.
      expect(swarm.told('process.exited').map(({ level }) => level)).toEqual(deeds.map(() => 'info'));
    }
    await readStore(folder.path, async (journal) => {
      for (const deed of deeds) {
        const { messages } = await journal.read({ agentName: `bad-${deed}`, instanceKey: 'default' });
        expect(inputsOf(messages)).toEqual([deed]);
      }
    });
  });
});

// Tests tool calls that wait for a person, with real processes. A call waits in one process and is answered from
// another, and processes are killed in between.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type QuestionSummary,
  connectSwarm,
  startSwarm,
  type Swarm,
  type SwarmNotice,
  type TurnEnd,
} from '@goondan/runtime';
import { textOf } from '@goondan/types';
import { readOwner } from '../../packages/runtime/src/testing/read-owner.ts';
import { findTagged, waitUntilGone } from '../torture/processes.ts';
import { type PlanChoice, planIn, workspace } from './plan.ts';
import { testInProof } from '../samples.ts';
import { rule } from '../../packages/base/src/extensions/approval/testing/rule.ts';
import { openQuestions } from '@goondan/runtime/internal';
import { samples } from '../samples.ts';
import { rejectionOf } from '../../packages/runtime/src/workspace/simulation/rejection-of.ts';
import { until } from '../until.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(90_000);

let folder: string;
let runTags: Set<string>;
const opened: { stop(): Promise<unknown> }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'goondan-approval-'));
  runTags = new Set();
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.stop();
  for (const tag of runTags) expect(await waitUntilGone(tag, 10_000)).toBeDefined();
  rmSync(folder, { recursive: true, force: true });
});

const place = () => ({ stateRoot: join(folder, 'state'), workspaceId: workspace });

/** Starts the swarm in this process. */
async function start(choice?: PlanChoice): Promise<Swarm> {
  const control = await startSwarm(planIn(folder, choice));
  opened.push({ stop: () => control.stop({ graceMs: 0 }) });
  await rememberRun();
  return control;
}

/** Starts the swarm in a separate process, so that the test can kill it. */
async function startElsewhere(): Promise<{ control: Swarm; kill: () => Promise<void> }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'swarm-process.ts'), folder], { stdout: 'pipe' });
  const kill = async () => {
    child.kill('SIGKILL');
    await child.exited;
  };
  opened.push({ stop: kill });
  await child.stdout.getReader().read();
  await rememberRun();
  return { control: await connectSwarm(place()), kill };
}

/** Starts the swarm in a separate process, where the turn `e1` waits for the answer to a question about a book. */
async function askElsewhere() {
  const first = await startElsewhere();
  await first.control.deliver({ id: 'e1', input: 'put a book' });
  const [question] = await asked(first.control);
  if (question === undefined) throw new Error('Nobody was asked.');
  return { ...first, question };
}

async function rememberRun(): Promise<void> {
  const owner = await readOwner(place());
  if (owner !== undefined) runTags.add(owner.runTag);
}

type Waiting = Pick<Swarm, 'questions' | 'instances'>;

function asked(swarm: Waiting, count = 1): Promise<readonly QuestionSummary[]> {
  return until(
    async () => {
      const questions = await swarm.questions();
      return questions.length === count && questions;
    },
    { about: 'a person is asked' },
  );
}

async function pidOf(swarm: Waiting, agent = 'keeper'): Promise<number | undefined> {
  return (await swarm.instances()).find((each) => each.agent === agent)?.pid;
}

/** Waits until a process other than `before` works on the turn. */
function anotherProcess(swarm: Waiting, before: number | undefined): Promise<number> {
  return until(
    async () => {
      const pid = await pidOf(swarm);
      return pid !== undefined && pid !== before && pid;
    },
    { about: 'another process is there' },
  );
}

interface Run {
  readonly toolCallId: string;
  readonly input: unknown;
}

function runs(): Run[] {
  const path = join(folder, 'runs.jsonl');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Run);
}

const textOfEnd = ({ result }: TurnEnd) => textOf(result.responseMessage);
const book = { toolName: 'shelf__put', args: { what: 'a book' }, agent: 'keeper', instanceKey: 'default' };

describe('an approval', () => {
  test('requested in one process and given from another resumes that exact call, once', async () => {
    const { control } = await startElsewhere();
    const turn = control.ask({ input: 'put a book' });
    const [question] = await asked(control);
    expect(question).toMatchObject({
      ...book,
      reason: 'No rule matches this call, and its effects are external, or not declared.',
    });
    expect(runs()).toEqual([]);
    expect((await control.status()).instances).toMatchObject([{ agent: 'keeper', status: 'working', questions: 1 }]);
    const another = await connectSwarm(place());
    // A program that starts to watch later also gets the question.
    const heard: SwarmNotice[] = [];
    await another.watch({ types: ['question'], soFar: true }, (notice) => heard.push(notice));
    await until(async () => heard.length > 0, { about: 'the question is heard' });
    await another.answer({ id: question?.id ?? '', by: 'ann', decision: 'approved' });
    expect(textOfEnd(await turn)).toBe('Put a book: ');
    await until(async () => heard.length > 1, { about: 'the answer is heard' });
    expect(heard).toMatchObject([
      { type: 'question', question, state: 'asked' },
      { type: 'question', question, state: 'decided', outcome: { decision: 'approved', by: 'ann' } },
    ]);
    expect((await control.status()).instances[0]).not.toHaveProperty('questions');
    expect(runs()).toEqual([{ toolCallId: 'call_1', input: { what: 'a book' } }]);
    expect(
      await rejectionOf(another.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' })),
    ).toMatchObject({ code: 'E_QUESTION_ENDED' });
    expect(await control.questions()).toEqual([]);
  });

  test('for always is kept over turns and restarts, in its conversation, until it is revoked or the conversation is deleted', async () => {
    const first = await startElsewhere();
    const allow = async (control: Swarm, always: 'tool' | 'arguments') => {
      const turn = control.ask({ input: 'put a book' });
      const [question] = await asked(control);
      await control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann', always });
      await turn;
      return question?.id ?? '';
    };
    const id = await allow(first.control, 'tool');
    // Nobody is asked, and the trace of the turn has the person.
    expect(textOfEnd(await first.control.ask({ input: 'put a pen' }))).toBe('Put a pen: ');
    const other = first.control.ask({ input: 'put a cup', instanceKey: 'other' });
    const [question] = await asked(first.control);
    expect(question).toMatchObject({ instanceKey: 'other' });
    await first.control.answer({ id: question?.id ?? '', decision: 'denied', by: 'ann' });
    await other;
    await first.kill();
    const control = await start();
    expect(await control.grants()).toMatchObject([{ id, by: 'ann', always: 'tool', toolName: 'shelf__put' }]);
    expect(textOfEnd(await control.ask({ input: 'put a hat' }))).toBe('Put a hat: ');
    await control.revoke({ id, by: 'ann' });
    await allow(control, 'arguments');
    expect(runs().map(({ input }) => input)).toEqual(['a book', 'a pen', 'a hat', 'a book'].map((what) => ({ what })));
    expect(textOfEnd(await control.ask({ input: 'put a book' }))).toBe('Put a book: ');
    await control.deleteInstance({ agent: 'keeper', instanceKey: 'default' });
    expect(await control.grants()).toEqual([]);
    const again = control.ask({ input: 'put a book' });
    const [last] = await asked(control);
    await control.answer({ id: last?.id ?? '', decision: 'denied', by: 'ann' });
    await again;
    expect(runs()).toHaveLength(5);
  });

  test('can be cancelled with its turn, and is withdrawn', async () => {
    const control = await start();
    const turn = control.ask({ id: 'e1', input: 'put a book' });
    const [question] = await asked(control);
    expect(await control.cancel({ eventId: 'e1' })).toBe(true);
    expect((await turn).result.error?.code).toBe('E_CANCELLED');
    expect(await control.questions()).toEqual([]);
    expect(
      await rejectionOf(control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' })),
    ).toMatchObject({ code: 'E_QUESTION_ENDED' });
    expect(runs()).toEqual([]);
  });
});

describe('in between', () => {
  testInProof(
    'the agent’s process is killed again and again: the question stays the same, and the call runs once',
    async () => {
      const control = await start();
      const turn = control.ask({ input: 'put a book' });
      const [question] = await asked(control);
      let pid = await pidOf(control);
      for (const _ of ['once', 'twice']) {
        process.kill(pid ?? 0, 'SIGKILL');
        pid = await anotherProcess(control, pid);
        expect(await control.questions()).toEqual(question === undefined ? [] : [question]);
      }
      await control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' });
      expect(textOfEnd(await turn)).toBe('Put a book: ');
      expect(runs()).toEqual([{ toolCallId: 'call_1', input: { what: 'a book' } }]);
    },
  );

  test('the orchestrator is killed, and the answer comes before the agent is back: nothing is lost', async () => {
    const { kill, question } = await askElsewhere();
    await kill();
    const control = await start();
    expect(await control.questions()).toEqual([question]);
    await control.answer({ id: question.id, decision: 'approved', by: 'ann' });
    expect(textOfEnd(await control.ask({ id: 'e1' }))).toBe('Put a book: ');
    expect(runs()).toEqual([{ toolCallId: 'call_1', input: { what: 'a book' } }]);
  });

  test.each([
    ['an approval', {}, 'a book', 'Put a book: '],
    ['an edit', { args: { what: 'a pen' } }, 'a pen', 'Put a pen: '],
  ])(
    '%s is given, and both are killed before the call: the call runs once, and is not asked about again',
    async (_, edit, what, answer) => {
      const { control: first, kill, question } = await askElsewhere();
      // The stopped process cannot receive the answer, and is killed together with the orchestrator.
      process.kill((await pidOf(first)) ?? 0, 'SIGSTOP');
      const reply = { id: question.id, decision: 'approved', by: 'ann', via: 'test' } as const;
      expect(await rejectionOf(first.answer({ ...reply, digest: 'other' }))).toMatchObject({
        code: 'E_QUESTION_CHANGED',
      });
      await first.answer({ ...reply, digest: question.digest, ...edit });
      await kill();
      expect(runs()).toEqual([]);
      const control = await start();
      expect(await control.questions()).toEqual([]);
      expect(textOfEnd(await control.ask({ id: 'e1' }))).toBe(answer);
      expect(runs()).toEqual([{ toolCallId: 'call_1', input: { what } }]);
    },
  );

  test('N-01 a question is answered from disk while nothing runs, and the next start uses the answer', async () => {
    const { kill, question } = await askElsewhere();
    const stopped = { ...place(), swarm: 'approval', warn: () => undefined };
    // While a swarm runs, its control socket is the way.
    expect(await rejectionOf(openQuestions(stopped))).toMatchObject({ code: 'E_SWARM_RUNNING' });
    await kill();
    const desk = await openQuestions(stopped);
    expect(await desk.questions()).toEqual([question]);
    // No swarm can start meanwhile.
    expect(await rejectionOf(startSwarm(planIn(folder)))).toMatchObject({ code: 'E_SWARM_RUNNING' });
    const reply = { id: question.id, decision: 'approved', by: 'ann', via: 'disk', always: 'tool' } as const;
    await desk.answer({ ...reply, digest: question.digest, args: { what: 'a pen' } });
    expect(await rejectionOf(desk.answer(reply))).toMatchObject({ code: 'E_QUESTION_ENDED' });
    await desk.close();
    const control = await start();
    await control.ask({ id: 'e1' });
    await control.ask({ input: 'put a cup' });
    expect(runs().map(({ input }) => input)).toEqual([{ what: 'a pen' }, { what: 'a cup' }]);
  });

  test('N-01 a kill -9 while an answer is written from disk loses nothing: the question is open or answered, once', async () => {
    const { kill, question } = await askElsewhere();
    await kill();
    const stopped = { ...place(), swarm: 'approval', warn: () => undefined };
    const ends = new Set<string>();
    for (let round = 0; round < samples(40) && !ends.has('answered'); round += 1) {
      const script = join(import.meta.dir, 'answer-process.ts');
      const child = Bun.spawn([process.execPath, script, stopped.stateRoot, stopped.workspaceId], { stdout: 'pipe' });
      await child.stdout.getReader().read();
      // The write takes less than a millisecond or two.
      const killAt = performance.now() + (round % 8) / 4;
      while (performance.now() < killAt);
      child.kill('SIGKILL');
      await child.exited;
      const desk = await openQuestions(stopped);
      const open = await desk.questions();
      await desk.close();
      if (open.length > 0) expect(open).toEqual([question]);
      ends.add(open.length > 0 ? 'open' : 'answered');
    }
    const desk = await openQuestions(stopped);
    for (const { id } of await desk.questions()) await desk.answer({ id, decision: 'approved', by: 'ann' });
    await desk.close();
    const control = await start();
    expect(textOfEnd(await control.ask({ id: 'e1' }))).toBe('Put a book: ');
    expect(runs()).toHaveLength(1);
  });

  test('the swarm is stopped more often than an event may crash: it does not wait for the person, and continues later', async () => {
    let question: QuestionSummary | undefined;
    // An event that has ended its process four times as often is a dead letter, whatever the orchestrator has counted.
    const crashesBeforeDeadLetter = 1;
    for (let times = 0; times < 6; times++) {
      const control = await startSwarm(
        planIn(folder, { policy: { shutdown: { gracePeriodSeconds: 600 }, spares: 0, crashesBeforeDeadLetter } }),
      );
      let hasAsked = false;
      await control.watch({ types: ['runtime.event'] }, (notice) => {
        hasAsked ||= notice.type === 'runtime.event' && notice.name === 'approval.asked';
      });
      if (times === 0) await control.deliver({ id: 'e1', input: 'put a book' });
      // The orchestrator knows the question from the earlier run. So the test waits until the new process asks it
      // again.
      await until(async () => hasAsked, { about: 'its process asks' });
      const [found] = await asked(control);
      question ??= found;
      expect(found).toMatchObject(book);
      expect(found?.id).toBe(question?.id ?? '');
      await control.stop();
    }
    const control = await start({ policy: { crashesBeforeDeadLetter } });
    await control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' });
    expect(textOfEnd(await control.ask({ id: 'e1' }))).toBe('Put a book: ');
    expect(runs()).toHaveLength(1);
  });

  test.each([undefined, 'agent'] as const)(
    'N-04 the swarm is stopped while a tool that must not run again waits: the call ends, and the turn continues later (isolation %s)',
    async (isolation) => {
      const config = { rules: [rule('shelf__ask', 'allow')] };
      const choice = { config, policy: { shutdown: { gracePeriodSeconds: 600 } }, ...(isolation && { isolation }) };
      const stopped = await start(choice);
      await stopped.deliver({ id: 'e1', input: 'ask' });
      const [question] = await asked(stopped);
      expect(question).toMatchObject({ kind: 'form', reason: 'Which shelf?' });
      await stopped.stop();

      const stored = await openQuestions({ ...place(), swarm: 'approval' });
      expect(await stored.questions()).toEqual([]);
      await stored.close();
      const control = await start(choice);
      expect(textOfEnd(await control.ask({ id: 'e1' }))).toBe(
        'Put E_INTERRUPTED: The agent was stopped while this call of "shelf__ask" waited for a person, so the call was ended before anybody answered.',
      );
      expect(await control.questions()).toEqual([]);
      expect(runs()).toHaveLength(1);
    },
  );

  testInProof('its process is replaced: the question stays', async () => {
    const control = await start();
    const turn = control.ask({ input: 'put a book' });
    const [question] = await asked(control);
    const before = await pidOf(control);
    expect(await control.restart({ agent: 'keeper' })).toBe(1);
    await anotherProcess(control, before);
    expect(await control.questions()).toEqual(question === undefined ? [] : [question]);
    expect((await control.status()).instances[0]?.crashes).toBe(0);
    await control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' });
    expect(textOfEnd(await turn)).toBe('Put a book: ');
    expect(runs()).toHaveLength(1);
  });

  test('the conversation is reset: an earlier answer does not count for a new question', async () => {
    const control = await start();
    void control.ask({ id: 'e1', input: 'put a book' }).catch(() => undefined);
    const [question] = await asked(control);
    await control.restart({ agent: 'keeper', fresh: true });
    const [again] = await until(
      async () => {
        const questions = await control.questions();
        return questions[0] !== undefined && questions[0].id !== question?.id && questions;
      },
      { about: 'it is asked again' },
    );
    expect(again).toMatchObject(book);
    expect(
      await rejectionOf(control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' })),
    ).toMatchObject({ code: 'E_QUESTION_ENDED' });
    await control.answer({ id: again?.id ?? '', decision: 'denied', by: 'ann' });
    expect(textOfEnd(await control.ask({ id: 'e1' }))).toContain('E_APPROVAL_DENIED');
    expect(runs()).toEqual([]);
  });
});

describe('agents that wait for an agent that waits for a person', () => {
  const impatient = { policy: { requestTimeoutMs: 1_500, turnTimeoutMs: 2_500, toolTimeoutMs: 1_500 } };

  testInProof('do not reach their deadline either', async () => {
    const control = await start(impatient);
    const turn = control.ask({ agent: 'boss', input: 'have a book' });
    const [question] = await asked(control);
    await Bun.sleep(3_000);
    await control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' });
    expect(textOfEnd(await turn)).toBe('The keeper says: Put a book: ');
  });

  testInProof('nor when they are killed meanwhile; and a stop waits for neither', async () => {
    const policy = { ...impatient.policy, shutdown: { gracePeriodSeconds: 600 } };
    const first = await startSwarm(planIn(folder, { policy }));
    await first.deliver({ id: 'e1', agent: 'boss', input: 'have a book' });
    const [question] = await asked(first);
    const boss = await pidOf(first, 'boss');
    process.kill(boss ?? 0, 'SIGKILL');
    await until(
      async () => {
        const pid = await pidOf(first, 'boss');
        return pid !== undefined && pid !== boss;
      },
      { about: 'the boss is back' },
    );
    await Bun.sleep(1_000);
    await first.stop();
    const control = await start(impatient);
    await Bun.sleep(2_000);
    await control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' });
    expect(textOfEnd(await control.ask({ id: 'e1', agent: 'boss' }))).toBe('The keeper says: Put a book: ');
    expect(runs()).toHaveLength(1);
  });
});

describe('with more instances than processes', () => {
  test('an agent that waits for a person, itself or through another, makes room for others', async () => {
    const control = await start({ policy: { maxProcesses: 1, spares: 0 } });
    const asking = control.ask({ instanceKey: 'one', input: 'put a book' });
    await asked(control);
    const through = control.ask({ agent: 'boss', instanceKey: 'two', input: 'have a lamp' });
    await asked(control, 2);
    // The swarm may have only one process at a time, and each instance needs one.
    for (const instanceKey of ['three', 'four']) {
      expect(textOfEnd(await control.ask({ instanceKey, input: 'look' }))).toBe('It is full.');
    }
    const waiting = await control.questions();
    expect(waiting.map(({ args }) => args)).toEqual([{ what: 'a book' }, { what: 'a lamp' }]);
    for (const { id } of waiting) await control.answer({ id, decision: 'approved', by: 'ann' });
    expect(textOfEnd(await asking)).toBe('Put a book: ');
    expect(textOfEnd(await through)).toBe('The keeper says: Put a lamp: ');
    expect(runs()).toHaveLength(2);
    expect((await control.status()).instances.filter(({ crashes }) => crashes > 0)).toEqual([]);
  });

  testInProof('and can still be cancelled', async () => {
    const control = await start({ policy: { maxProcesses: 1, spares: 0 } });
    const asking = control.ask({ id: 'e1', instanceKey: 'one', input: 'put a book' });
    await asked(control);
    const busy = control.ask({ instanceKey: 'two', input: 'put a lamp' });
    await asked(control, 2);
    expect(await control.cancel({ instanceKey: 'one', eventId: 'e1' })).toBe(true);
    expect((await asking).result.error?.code).toBe('E_CANCELLED');
    const [left] = await asked(control);
    await control.answer({ id: left?.id ?? '', decision: 'denied', by: 'ann' });
    expect(textOfEnd(await busy)).toContain('E_APPROVAL_DENIED');
  });
});

describe('code of a bundle', () => {
  test('cannot answer, take or withdraw the question of another agent, whatever it writes into its channel', async () => {
    const control = await start({ extensions: ['forger'], policy: { crashesBeforeDeadLetter: 1 } });
    const turn = control.ask({ input: 'put a book' });
    const [question] = await asked(control);
    const id = question?.id ?? '';
    const answer = { id, decision: 'approved', by: 'root' };
    const forge = (instanceKey: string, ...frames: object[]) => {
      const metadata = { forged: frames.map((frame) => JSON.stringify(frame)) };
      return control.ask({ agent: 'boss', instanceKey, input: 'hello', metadata });
    };
    // A process that sends a frame of another language is killed. Its turn may have ended before.
    const foreign = [
      { type: 'question.ended', callId: 'x', outcome: { status: 'answered', answer } },
      { type: 'approval.approve', id },
      { type: 'approval.decided', ...answer },
    ];
    await Promise.all(foreign.map((frame, index) => forge(`foreign ${index}`, frame)));
    const known = [
      { type: 'question.taken', id },
      { type: 'question.taken', id, agent: 'keeper', instanceKey: 'default' },
      ...Array.from({ length: 3 }, (_, index) => ({ type: 'question.withdrawn', callId: `approval-${index}` })),
      { type: 'question.ask', ...questionFrame(question), agent: 'keeper', eventId: question?.eventId ?? '' },
    ];
    expect(textOfEnd(await forge('known', ...known))).toContain('The keeper says');
    expect(await control.questions()).toEqual(question === undefined ? [] : [question]);
    expect(runs()).toEqual([]);
    await control.answer({ id, decision: 'denied', by: 'ann' });
    expect(textOfEnd(await turn)).toContain('E_APPROVAL_DENIED');
  });

  function questionFrame(question: QuestionSummary | undefined) {
    const { toolCallId = '', toolName = '', args = {} } = question ?? {};
    return {
      callId: 'x',
      key: '0/call/call_1/approval/0',
      toolCallId,
      toolName,
      args,
      reason: 'Mine.',
      kind: 'call',
      expiresInMs: 1_000,
    };
  }
});

describe('the files on disk', () => {
  test('contain no secret; the file belongs to the user, without ended questions', async () => {
    const secret = 'correct-horse-battery';
    const control = await start({ secrets: [secret] });
    const turn = control.ask({ input: `put ${secret}` });
    const [question] = await asked(control);
    expect(question?.args).toEqual({ what: '***' });
    const file = join(folder, 'state/workspaces', workspace, 'approvals.jsonl');
    expect(readFileSync(file, 'utf8')).not.toContain(secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await control.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' });
    await turn;
    // The model saw only the masked secret, so it could not pass the secret to the tool.
    expect(runs()).toMatchObject([{ input: { what: '***' } }]);
    expect(readdirSync(folder).toSorted()).toEqual(['runs.jsonl', 'state']);
    expect(findTagged([...runTags][0] ?? '').length).toBeGreaterThan(0);
  });
});

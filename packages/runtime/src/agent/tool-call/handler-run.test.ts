// Tests a process that is asked to end while a tool of it waits for a person, with a real disk.
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { waitForNextProcess } from './handler-run.ts';
import { firstTurn, launchAgentProcess, type LaunchedProcess } from '../../testing/launch-agent-process.ts';
import { until } from '../../../../../test/until.ts';

// This timeout is long, because the machine may be busy.
setDefaultTimeout(60_000);

const folders = mkdtempSync(join(tmpdir(), 'handler-run-'));
let folder: string;
const launched: LaunchedProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(folders, 'test-'));
});
afterEach(async () => {
  for (const each of launched.splice(0)) await each.kill();
});
afterAll(() => rmSync(folders, { recursive: true, force: true }));

/** Starts another process of the same instance, and its turn, in which the model calls these tools. */
async function launch(...tools: readonly string[]): Promise<LaunchedProcess> {
  const process = await launchAgentProcess(plan(tools));
  launched.push(process);
  await process.send(firstTurn);
  return process;
}

function plan(called: readonly string[]): AgentStart {
  writeFileSync(
    join(folder, 'person.ts'),
    `import { appendFileSync, existsSync } from 'node:fs';
    const note = (text) => appendFileSync(${JSON.stringify(join(folder, 'notes'))}, text + '\\n');
    const form = { type: 'object', properties: { branch: { type: 'string' } }, required: ['branch'] };
    const ask = async ({ person }) => {
      note('asks');
      const { outcome } = await person.ask({ reason: 'Which branch?', form });
      note(outcome);
      return outcome;
    };
    const work = async () => {
      note('works');
      while (!existsSync(${JSON.stringify(join(folder, 'finished'))})) await Bun.sleep(2);
      note('worked');
    };
    export const handlers = {
      once: ask,
      both: (ctx) => Promise.all([ask(ctx), ask(ctx)]).then(String),
      again: ask,
      twice: (ctx) => Promise.all([ask(ctx), ask(ctx)]).then(String),
      late: async (ctx) => (await work(), ask(ctx)),
      busy: async () => (await work(), 'done'),
    };`,
  );
  const exports = [
    { name: 'once', description: '', parallel: true },
    { name: 'both', description: '' },
    { name: 'again', description: '', idempotent: true },
    { name: 'twice', description: '', idempotent: true },
    { name: 'late', description: '' },
    { name: 'busy', description: '', parallel: true },
  ];
  const calls = called.map((name) => ({ tool: `person__${name}` }));
  const script = [{ when: 'go', calls }, { say: '{{result}}' }];
  return {
    address: { agentName: 'tester', instanceKey: 'default' },
    agent: {
      agentName: 'tester',
      models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
      tools: [{ name: 'person', exports, root: folder, entry: './person.ts' }],
    },
    agents: [],
    store: { stateRoot: join(folder, 'state'), workspaceId: 'test' },
    cwd: folder,
  };
}

const notes = async () => (await Bun.file(join(folder, 'notes')).text()).trim().split('\n');
const finish = () => writeFileSync(join(folder, 'finished'), '');
const typesOf = ({ said }: LaunchedProcess) => said.map(({ type }) => type);
const drain = { type: 'drain', graceMs: 600_000 } as const;

async function answer(process: LaunchedProcess, index = 0): Promise<void> {
  const { callId } = await process.first('question.ask', index);
  const outcome = { status: 'answered', answer: { id: `a${index}`, decision: 'approved' } } as const;
  await process.send({ type: 'question.ended', callId, outcome });
}

async function answerOf(process: LaunchedProcess): Promise<string> {
  return textOf((await process.first('turn.done')).result.responseMessage);
}

/** Resolves when the process has left its turn and has ended. */
async function left(process: LaunchedProcess): Promise<void> {
  expect(await process.first('drained')).toEqual({ type: 'drained', leavesTurn: true });
  expect(await until(() => process.exits[0])).toBe(0);
  expect(typesOf(process)).not.toContain('turn.done');
}

describe('a process that is asked to end while a tool waits for a person', () => {
  test.each([
    ['once', 1],
    ['both', 2],
  ])(
    'N-04 ends a call that must not run again, and the next process continues with its result: %s',
    async (tool, count) => {
      const process = await launch(tool);
      const { callId } = await process.first('question.ask', count - 1);
      await process.send(drain);
      await left(process);
      expect(process.said).toContainEqual({ type: 'question.withdrawn', callId });

      const next = await launch(tool);
      const said = await answerOf(next);
      expect(said).toContain(`was stopped while this call of \\"person__${tool}\\" waited for a person`);
      expect(said).toContain('E_INTERRUPTED');
      expect(typesOf(next)).not.toContain('question.ask');
      expect(await notes()).toEqual(Array.from({ length: count }, () => 'asks'));
    },
  );

  test.each(['again', 'twice'])('N-04 leaves a call that may run again, and its questions open: %s', async (tool) => {
    const count = tool === 'twice' ? 2 : 1;
    const process = await launch(tool);
    await process.first('question.ask', count - 1);
    await process.send(drain);
    await left(process);
    expect(typesOf(process)).not.toContain('question.withdrawn');

    const next = await launch(tool);
    for (let index = 0; index < count; index += 1) await answer(next, index);
    expect(await answerOf(next)).toContain('answered');
  });

  test('N-04 finishes other calls first', async () => {
    const process = await launch('once', 'busy');
    await process.first('question.ask');
    await until(async () => (await notes()).includes('works'));
    await process.send(drain);
    await process.first('question.withdrawn');
    expect(typesOf(process)).not.toContain('drained');
    finish();
    await left(process);

    expect(await answerOf(await launch('once', 'busy'))).toContain('done');
    expect((await notes()).toSorted()).toEqual(['asks', 'worked', 'works']);
  });

  test('N-04 asks nobody any more', async () => {
    const process = await launch('late');
    await until(() => Bun.file(join(folder, 'notes')).exists());
    await process.send(drain);
    finish();
    await left(process);
    expect(typesOf(process)).not.toContain('question.ask');
    expect(await answerOf(await launch('late'))).toContain('E_INTERRUPTED');
    expect(await notes()).toEqual(['works', 'worked', 'asks']);
  });

  test('can still be cancelled', async () => {
    const process = await launch('once', 'busy');
    await process.first('question.ask');
    await process.send(drain);
    await process.first('question.withdrawn');
    await process.send({ type: 'cancel', eventId: firstTurn.event.id, reason: 'Enough.' });
    expect((await process.first('turn.done')).result.error?.code).toBe('E_CANCELLED');
  });

  test('N-04 waits for the person if it only makes room for others, until it must end', async () => {
    const process = await launch('once');
    await process.first('question.ask');
    await process.send({ ...drain, isUnhurried: true });
    await answer(process);
    expect(await answerOf(process)).toBe('answered');

    rmSync(join(folder, 'state'), { recursive: true });
    const waiting = await launch('once');
    await waiting.first('question.ask');
    await waiting.send({ ...drain, isUnhurried: true });
    await waiting.send(drain);
    await left(waiting);
    expect(typesOf(waiting)).toContain('question.withdrawn');
  });

  test('does not wait for the next process if its turn was cancelled before', async () => {
    const cancelled = new Error('Enough.');
    const turn = { signal: AbortSignal.abort(cancelled) } as unknown as RunningTurn;
    expect(await rejectionOf(waitForNextProcess(turn))).toBe(cancelled);
  });
});

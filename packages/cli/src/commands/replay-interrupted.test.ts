// Tests with real agents: `gdn replay` of cancelled turns, and of turns that another process continued.
import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplayReport } from '@goondan/runtime/history';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { waitingQuestion } from '../testing/waiting-question.ts';
import { testInProof } from '../../../../test/samples.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace();

const gdn = (...args: string[]) => place.run(...args, '--bundle', 'bundle', '--trust');
const swarm = async (...args: string[]) =>
  expect(await place.run(...args, '--bundle', 'bundle')).toMatchObject({ exitCode: 0 });
const mark = () => join(place.folder, 'mark');

async function replayJson(...args: string[]): Promise<ReplayReport & { readonly exitCode: number }> {
  const { stdout, stderr, exitCode } = await gdn('replay', ...args, '--json');
  expect(stderr).toBe('');
  return { ...(JSON.parse(stdout) as ReplayReport), exitCode };
}

const script = [
  `- { when: 'put', call: { tool: shelf__put, args: { what: a book } } }`,
  `- { when: 'wait', call: { tool: shelf__wait } }`,
  `- { afterTool: shelf__put, say: 'Put.' }`,
  `- { say: 'You said: {{input}}' }`,
].join('\n');

const names = ['ask', 'tag', 'greet', 'crash'];

const says = (kind: 'turn' | 'step', text: string) => `
  import { createSystemMessage } from '@goondan/types';
  export function register(api) {
    api.pipeline.register('${kind}', async (ctx) => {
      // All of it is as it was in that run.
      const times = ctx.conversationState.nextMessages.map(({ createdAt }) => createdAt.toISOString());
      const seen = [crypto.randomUUID(), Date.now(), ctx.turn?.startedAt.toISOString(), ctx.resumed, ...times];
      ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('${text} ' + seen.join(' ')) });
      return ctx.next();
    });
  }`;

/** The code of a layer that asks a person before a tool call. */
const ask = (reason: string) => `
  export function register(api) {
    api.pipeline.register('toolCall', async (ctx) => {
      if (ctx.toolName === 'shelf__put' && ${reason !== ''}) await ctx.approval.ask({ reason: '${reason}' });
      return ctx.next();
    });
  }`;

async function writeBundle({ policy = '', crash = 'export const register = () => undefined;' } = {}): Promise<void> {
  const tool =
    'kind: Tool\nmetadata: { name: shelf }\nspec:\n  entry: ./shelf.ts\n  exports:\n    - { name: put, description: Puts., parameters: { type: object } }\n    - { name: wait, description: Waits., parameters: { type: object } }\n';
  const extensions = names.map(
    (name) => `apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: ${name} }\nspec: { entry: ./${name}.ts }`,
  );
  const agent = `tools: [Tool/shelf]\nextensions: [${names.map((name) => `Extension/${name}`).join(', ')}]`;
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({ script, agent, swarm: policy, more: [tool, ...extensions].join('\n---\n') }),
    'shelf.ts': `
      import { writeFileSync } from 'node:fs';
      export const handlers = {
        put() { writeFileSync(${JSON.stringify(mark())}, ''); return 'put'; },
        wait() { writeFileSync(${JSON.stringify(mark())}, ''); return new Promise(() => undefined); },
      };`,
    'ask.ts': ask('May it?'),
    'tag.ts': says('step', 'be kind'),
    'greet.ts': says('turn', 'hello'),
    'crash.ts': crash,
  });
  await place.write('other', {
    'tag.ts': says('step', 'be unkind'),
    'greet.ts': says('turn', 'good-bye'),
  });
}

async function isMarked(): Promise<void> {
  await until(() => existsSync(mark()));
}

describe('gdn replay of a cancelled turn', () => {
  test('by Ctrl-C: replays up to that place, which is named; everything before is compared', async () => {
    await writeBundle();
    const running = place.start('run', '--bundle', 'bundle', '--trust', '--input', 'wait');
    await isMarked();
    running.kill('SIGINT');
    expect(await running.exited).toBe(130);
    const { stdout, stderr, exitCode } = await gdn('replay');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout.split('\n').slice(2)).toEqual([
      '1 step, 1 model reply, 0 tool results served from the recording, 0 called',
      '',
      'No divergence: 3 layers behaved as recorded.',
      'It was cancelled at step 0 › toolCall shelf__wait, as in the recording.',
      '',
    ]);
    expect(await replayJson('--swap', 'Extension/tag=other/tag.ts')).toMatchObject({
      exitCode: 1,
      divergence: { cause: 'swapped', extension: 'tag', place: ['step 0'], what: 'message' },
    });
  });

  testInProof('by its deadline', async () => {
    await writeBundle({ policy: 'policy: { turnTimeoutMs: 700 }' });
    expect((await gdn('run', '--input', 'wait')).exitCode).toBe(1);
    const { exitCode, divergence, halted } = await replayJson();
    expect({ exitCode, divergence }).toEqual({ exitCode: 0, divergence: undefined });
    expect(halted).toMatchObject({ how: 'cancelled', error: expect.stringMatching(/^E_TURN_TIMEOUT: /) });
  });
});

describe('gdn replay of a turn that another process continued', () => {
  testInProof(
    'after gdn stop, while it waited for a person: replays both runs, and names the divergence of each',
    async () => {
      await writeBundle();
      await place.serve('bundle');
      await swarm('send', '--input', 'put');
      const { id } = await waitingQuestion(place);
      await swarm('stop');
      expect((await gdn('replay')).stderr).toMatch(/^E_REPLAY_UNFINISHED: .* it waits for approval/);
      await place.serve('bundle');
      await swarm('approve', id);
      await isMarked();
      await swarm('stop');

      const { stdout, stderr, exitCode } = await gdn('replay');
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
      expect(stdout.split('\n').slice(2)).toEqual([
        "3 steps, 2 model replies, 1 tool result, 1 person's answer served from the recording, 0 called",
        expect.stringMatching(/^run 1, 20\S+, from step 0 until its process was stopped: 2 layers compared$/),
        expect.stringMatching(/^run 2, 20\S+, from step 0 to its end: 4 layers compared$/),
        '',
        'No divergence: 6 layers behaved as recorded.',
        '',
      ]);
      // The turn layer `greet` emits a message before `next()`. When the turn continued, this message was already in the
      // log, so it is not compared in the second run.
      const swaps = ['--swap', 'Extension/greet=other/greet.ts', '--swap', 'Extension/tag=other/tag.ts'];
      expect(await replayJson(...swaps)).toMatchObject({
        exitCode: 1,
        divergence: { cause: 'swapped', extension: 'greet', place: [] },
        runs: [
          { how: 'left', fromStep: 0, divergence: { extension: 'greet' } },
          { how: 'finished', fromStep: 0, divergence: { cause: 'swapped', extension: 'tag', place: ['step 0'] } },
        ],
      });
    },
  );

  test('after its process was killed between two steps', async () => {
    const crash = `
      import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
      const killed = ${JSON.stringify(mark())} + '-killed';
      const root = ${JSON.stringify(place.stateRoot)};
      // The trace is written after the turn has gone on, so it is complete when the beginning of this step is in it.
      const isTraced = () =>
        readdirSync(root, { recursive: true, withFileTypes: true }).some(({ name, parentPath }) => {
          const file = parentPath + '/' + name;
          const isTrace = name.endsWith('.jsonl') && file.slice(root.length).includes('trace');
          return isTrace && readFileSync(file, 'utf8').includes('.step-1"');
        });
      export function register(api) {
        api.pipeline.register('step', async (ctx) => {
          if (ctx.stepIndex === 1 && !existsSync(killed)) {
            writeFileSync(killed, '');
            while (!isTraced()) await Bun.sleep(10);
            process.kill(process.pid, 'SIGKILL');
          }
          return ctx.next();
        });
      }`;
    await writeBundle({ crash });
    await place.write('bundle', { 'ask.ts': ask('') });
    const { stdout, exitCode } = await gdn('run', '--input', 'put', '--json');
    expect(exitCode).toBe(0);
    const { turnId } = JSON.parse(stdout) as { turnId: string };
    const unchanged = await replayJson();
    expect(unchanged).toMatchObject({
      exitCode: 0,
      turn: { turnId, resumes: 1 },
      runs: [
        { how: 'crashed', fromStep: 0, outcome: { others: 0, served: { model: 1, tool: 1 } } },
        { how: 'finished', fromStep: 1, outcome: { others: 0, steps: 1, served: { model: 1, tool: 0 } } },
      ],
    });
    expect(unchanged.divergence).toBeUndefined();
    expect(await replayJson('--swap', 'Extension/tag=other/tag.ts')).toMatchObject({
      exitCode: 1,
      divergence: { cause: 'swapped', extension: 'tag', place: ['step 0'] },
      runs: [{ divergence: { extension: 'tag' } }, { divergence: { extension: 'tag', place: ['step 1'] } }],
    });
  });
});

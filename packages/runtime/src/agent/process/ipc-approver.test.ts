// Tests a process that waits for people, with both ends of its channel in this process and a real disk.
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, textOf } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import {
  cancelFirstTurn,
  firstTurn,
  type FrameOf,
  launchAgentProcess,
  type LaunchedProcess,
} from '../../testing/launch-agent-process.ts';
import { until } from '../../../../../test/until.ts';

// This timeout is long, because the machine may be busy.
setDefaultTimeout(60_000);

const folders = mkdtempSync(join(tmpdir(), 'asking-process-'));
let folder: string;
const launched: LaunchedProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(folders, 'test-'));
});
afterEach(async () => {
  for (const each of launched.splice(0)) await each.kill();
});
// This runs last, because an instance that was killed in a test still exists in this process, and may write once more.
afterAll(() => rmSync(folders, { recursive: true, force: true }));

/** Starts another process of the same instance. */
async function launch(policy: JsonObject = {}): Promise<LaunchedProcess> {
  const process = await launchAgentProcess(plan(policy));
  launched.push(process);
  return process;
}

function plan(policy: JsonObject): AgentStart {
  writeFileSync(
    join(folder, 'guard.ts'),
    `import { appendFileSync, existsSync } from 'node:fs';
    const note = (text) => appendFileSync(${JSON.stringify(join(folder, 'notes'))}, text + '\\n');
    export function register({ pipeline, tools }) {
      pipeline.register('toolCall', async (ctx) => {
        // The deadline of a tool begins behind this layer.
        while (ctx.args.waitsFor !== undefined && !existsSync(ctx.args.waitsFor)) await Bun.sleep(2);
        if (!ctx.args.asks) return ctx.next();
        const { decision } = await ctx.approval.ask({ reason: 'Please.' });
        note('decided ' + decision);
        return ctx.next();
      });
      tools.register({ name: 'do__it', description: '', annotations: { readOnly: true } }, async (_, { ms = 0, name }) => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        note('did ' + name);
        return 'done';
      });
      return async () => {
        note('cleaning');
        await new Promise((resolve) => setTimeout(resolve, 100));
        while (existsSync(${JSON.stringify(join(folder, 'in-use'))})) await Bun.sleep(2);
        note('cleaned');
      };
    }`,
  );
  const slow = { tool: 'do__it', args: { ms: 300, name: 'slow' } };
  const calls = [{ tool: 'do__it', args: { asks: true, name: 'approved' } }, slow];
  const later = (waitsFor: string) => ({
    when: waitsFor,
    call: { ...slow, args: { ...slow.args, waitsFor: join(folder, waitsFor) } },
  });
  const script = [{ when: 'go', calls }, later('while held'), later('after that'), { say: 'said {{result}}' }];
  const resource = { apiVersion: 'goondan.ai/v1', kind: 'Extension', metadata: { name: 'guard' } } as const;
  return {
    address: { agentName: 'tester', instanceKey: 'default' },
    agent: {
      agentName: 'tester',
      models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
      extensions: [{ resource: { ...resource, spec: { entry: './guard.ts' } }, root: folder }],
      policy,
    },
    agents: [],
    store: { stateRoot: join(folder, 'state'), workspaceId: 'test' },
    cwd: folder,
  };
}

const yes = { status: 'answered', answer: { id: 'a1', decision: 'approved' } } as const;

async function notes(): Promise<string[]> {
  const file = Bun.file(join(folder, 'notes'));
  return (await file.exists()) ? (await file.text()).trim().split('\n') : [];
}

describe('a process whose turn waits for a person', () => {
  test('ends on a drain without the answer, after everything else it runs has finished', async () => {
    const process = await launch();
    await process.send(firstTurn);
    const asked = await process.first('question.ask');
    expect(asked).toMatchObject({ toolName: 'do__it', args: { asks: true, name: 'approved' }, reason: 'Please.' });
    // This time is longer than any wait in this test.
    await process.send({ type: 'drain', graceMs: 600_000 });
    expect(await process.first('drained')).toEqual({ type: 'drained', leavesTurn: true });
    await until(() => process.exits[0]);
    expect(process.exits).toEqual([0]);
    expect(await notes()).toEqual(['did slow', 'cleaning', 'cleaned']);
    expect(process.said.map(({ type }) => type)).not.toContain('turn.done');

    const next = await launch();
    await next.send(firstTurn);
    const again = await next.first('question.ask');
    expect({ ...again, callId: '' }).toEqual({ ...asked, callId: '' });
    await next.send({ type: 'question.ended', callId: again.callId, outcome: yes });
    expect((await next.first('turn.done')).result.finishReason).toBe('text_response');
    expect(await next.first('question.taken')).toEqual({ type: 'question.taken', id: 'a1' });
    // Effects that ran before the restart do not run again.
    expect((await notes()).slice(3)).toEqual(['decided approved', 'did approved']);
  });

  test('ignores an answer or a cancel that comes while it ends', async () => {
    const process = await launch({ unwindMs: 1 });
    writeFileSync(join(folder, 'in-use'), '');
    await process.send(firstTurn);
    const { callId } = await process.first('question.ask');
    await process.send({ type: 'drain', graceMs: 600_000 });
    await until(async () => (await notes()).includes('cleaning'));
    await process.send({ type: 'question.ended', callId, outcome: yes });
    await process.send({ type: 'cancel', eventId: 'e1', reason: 'Enough.' });
    await arrived();
    rmSync(join(folder, 'in-use'));
    await until(() => process.exits[0]);
    expect(await notes()).toEqual(['did slow', 'cleaning', 'cleaned']);
    expect(process.said.map(({ type }) => type)).not.toContain('turn.done');
    expect(process.exits).toEqual([0]);
  });

  test('takes an answer once: after a crash the answer is read from the disk', async () => {
    const process = await launch();
    await process.send(firstTurn);
    const { callId } = await process.first('question.ask');
    await process.send({ type: 'question.ended', callId, outcome: yes });
    await process.first('question.taken');
    await process.kill();
    const next = await launch();
    await next.send(firstTurn);
    await next.first('turn.done');
    expect(next.said.map(({ type }) => type)).not.toContain('question.ask');
  });

  test('withdraws its question when the turn is cancelled', async () => {
    const process = await launch();
    await process.send(firstTurn);
    const { callId, withdrawn, code } = await cancelFirstTurn(process, 'question');
    expect(withdrawn).toEqual({ type: 'question.withdrawn', callId });
    expect(code).toBe('E_CANCELLED');
  });

  test('passes a refusal of the orchestrator on to the model', async () => {
    const process = await launch();
    await process.send(firstTurn);
    const { callId } = await process.first('question.ask');
    const error = { code: 'E_APPROVALS_FULL', message: 'Too many.' } as const;
    await process.send({ type: 'question.ended', callId, outcome: { status: 'failed', error } });
    await process.first('turn.done');
    expect(await notes()).toEqual(['did slow']);
  });
});

describe('a held process, because an agent it asked waits for a person', () => {
  test('has its deadlines paused until it is no longer held', async () => {
    const process = await launch({ toolTimeoutMs: 100 });
    await process.send({ ...firstTurn, event: { ...firstTurn.event, id: 'held', input: 'while held' } });
    await process.send({ type: 'turn.held', eventId: 'held', isHeld: true });
    await process.send({ type: 'turn.held', eventId: 'held', isHeld: true });
    await process.send({ type: 'turn.held', eventId: 'another', isHeld: false });
    await startCall('while held');
    expect(textOf((await process.first('turn.done')).result.responseMessage)).toBe('said done');
    await process.send({ ...firstTurn, seq: 2, event: { ...firstTurn.event, id: 'let-go', input: 'after that' } });
    await process.send({ type: 'turn.held', eventId: 'let-go', isHeld: true });
    await process.send({ type: 'turn.held', eventId: 'let-go', isHeld: true });
    await process.send({ type: 'turn.held', eventId: 'let-go', isHeld: false });
    await startCall('after that');
    await until(() => (ends(process).length === 2 ? true : undefined));
    expect(textOf(ends(process)[1]?.result.responseMessage)).toContain('E_TOOL_TIMEOUT');
  });
});

/** Resolves when the process has got every message that was sent. */
async function arrived(): Promise<void> {
  for (let hop = 0; hop < 10; hop += 1) await new Promise((resolve) => void setImmediate(resolve));
}

/** Lets the call begin, after the process has got every message before. */
async function startCall(name: string): Promise<void> {
  await arrived();
  writeFileSync(join(folder, name), '');
}

function ends({ said }: { readonly said: readonly FromAgent[] }): FrameOf<'turn.done'>[] {
  return said.filter((message) => message.type === 'turn.done');
}

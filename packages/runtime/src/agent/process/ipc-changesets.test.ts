// Tests the frames of a process that changes its bundle, with both ends of its channel in this process and a real disk.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonValue, textOf } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import { IpcChangesets } from './ipc-changesets.ts';
import type { AgentChannel } from './process-host.ts';
import {
  cancelFirstTurn,
  firstTurn,
  launchAgentProcess,
  type LaunchedProcess,
} from '../../testing/launch-agent-process.ts';

// This timeout is long, because the machine may be busy.
setDefaultTimeout(60_000);

let folder: string;
const launched: LaunchedProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'changing-process-'));
});
afterEach(async () => {
  for (const each of launched.splice(0)) await each.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function launch(): Promise<LaunchedProcess> {
  writeFileSync(join(folder, 'change.ts'), `export const handlers = { commit: ({ bundle }) => bundle.commit('c1') };`);
  const script = [
    { when: 'go', call: { tool: 'change__commit' } },
    { say: '{{result.status}} {{result.message}}{{result.error.code}}' },
  ];
  const exports = [{ name: 'commit', description: '', effects: 'local', idempotent: true }] as const;
  const start: AgentStart = {
    address: { agentName: 'tester', instanceKey: 'default' },
    swarmName: 'small',
    agent: {
      agentName: 'tester',
      models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
      tools: [{ name: 'change', entry: './change.ts', root: folder, exports }],
    },
    agents: [],
    store: { stateRoot: join(folder, 'state'), workspaceId: 'test' },
    cwd: folder,
    watched: ['runtime.event'],
  };
  const process = await launchAgentProcess(start);
  launched.push(process);
  return process;
}

const toApprove = { changesetId: 'c1', digest: 'd', files: [{ path: 'a', change: 'changed', diff: '-x\n+y' }] };
const review = { review: { needsApproval: true, toApprove, expiresInMs: 3_600_000 } };
const committed = {
  outcome: {
    status: 'ok',
    changesetId: 'c1',
    baseRef: 'b',
    newRef: 'n',
    summary: { filesChanged: ['a'], filesAdded: [], filesDeleted: [] },
  },
};
const yes = { status: 'answered', answer: { id: 'a1', decision: 'approved' } } as const;

/** Answers the n-th request about a changeset, and returns the request. */
async function answer(process: LaunchedProcess, value: JsonValue, index = 0) {
  const { callId, request } = await process.first('changeset.ask', index);
  await process.send({ type: 'changeset.ended', callId, outcome: { status: 'answered', value } });
  return request;
}

describe('a process that commits a changeset', () => {
  test('L-05 leaves the turn while a person decides, and the next process commits with the answer', async () => {
    const process = await launch();
    await process.send(firstTurn);
    expect(await answer(process, review)).toEqual({ kind: 'review', changesetId: 'c1' });
    const asked = await process.first('question.ask');
    expect(asked).toMatchObject({
      kind: 'change',
      toolName: 'change__commit',
      args: toApprove,
      reason: 'Agent tester wants to change 1 file of its bundle.',
    });
    // This time is longer than any wait in this test.
    await process.send({ type: 'drain', graceMs: 600_000 });
    expect(await process.first('drained')).toEqual({ type: 'drained', leavesTurn: true });

    const next = await launch();
    await next.send(firstTurn);
    await answer(next, review);
    const again = await next.first('question.ask');
    expect({ ...again, callId: '' }).toEqual({ ...asked, callId: '' });
    await next.send({ type: 'question.ended', callId: again.callId, outcome: yes });
    expect(await answer(next, committed, 1)).toEqual({
      kind: 'commit',
      changesetId: 'c1',
      digest: 'd',
      approvalId: 'a1',
    });
    expect(textOf((await next.first('turn.done')).result.responseMessage)).toBe('ok ');
    const types = next.said.map(({ type }) => type).filter((type) => /^(?:changeset|question)/.test(type));
    expect(types).toEqual(['changeset.ask', 'question.ask', 'changeset.ask', 'question.taken']);
    const told = next.said.find((message) => message.type === 'runtime.event' && message.name === 'changeset.commit');
    expect(told).toMatchObject({
      payload: { swarmName: 'small', instanceId: 'tester/default', data: { newRef: 'n' } },
    });
  });

  test('L-05 after a crash during the commit asks nobody again', async () => {
    const process = await launch();
    await process.send(firstTurn);
    await answer(process, review);
    const { callId } = await process.first('question.ask');
    await process.send({ type: 'question.ended', callId, outcome: yes });
    await process.first('changeset.ask', 1);
    await process.kill();
    const next = await launch();
    await next.send(firstTurn);
    await answer(next, review);
    expect(await answer(next, committed, 1)).toMatchObject({ kind: 'commit', approvalId: 'a1' });
    await next.first('turn.done');
    expect(next.said.map(({ type }) => type)).not.toContain('question.ask');
  });

  test('withdraws its request when the turn is cancelled', async () => {
    const process = await launch();
    await process.send(firstTurn);
    const { callId, withdrawn, code } = await cancelFirstTurn(process, 'changeset');
    expect(withdrawn).toEqual({ type: 'changeset.withdrawn', callId });
    expect(code).toBe('E_CANCELLED');
  });

  test('passes an error of the orchestrator on to the model', async () => {
    const process = await launch();
    await process.send(firstTurn);
    const { callId } = await process.first('changeset.ask');
    const error = { code: 'E_CHANGESET_UNKNOWN', message: 'It expired.' } as const;
    await process.send({ type: 'changeset.ended', callId, outcome: { status: 'failed', error } });
    expect(textOf((await process.first('turn.done')).result.responseMessage)).toBe('error E_CHANGESET_UNKNOWN');
  });
});

test('a request fails when the orchestrator exits', async () => {
  const closings: (() => void)[] = [];
  const channel = { send: async () => undefined, onClose: (close: () => void) => void closings.push(close) };
  // The cast is safe: requests use only these two methods.
  const changesets = new IpcChangesets(channel as unknown as AgentChannel, 'small');
  const failed = changesets.ask({ kind: 'open' }, new AbortController().signal).catch((error: unknown) => error);
  for (const close of closings) close();
  expect(await failed).toMatchObject({ code: 'E_IPC_CLOSED' });
});

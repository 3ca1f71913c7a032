import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { fakeApprover, fakeChangesets, scriptedAgent } from '@goondan/runtime/testing';

const folder = join(import.meta.dir, '..', '..', '..', 'examples', 'bundle');

/** Runs the agent of the example in this process, with the tool as tools.yaml declares it. */
async function learner(script?: readonly JsonObject[]) {
  const loaded = await loadBundle(folder, { environment: {} });
  const [agent] = resolveSwarm(loaded, { environment: {}, workdir: folder }).plan.agents;
  const files = { 'learner.yaml': await Bun.file(join(folder, 'learner.yaml')).text() };
  const changesets = fakeChangesets({ files });
  const approver = fakeApprover(() => ({ decision: 'approved' }));
  const { modelRef: _, ...plan } = agent ?? {};
  const own = script === undefined ? agent : { ...plan, script };
  const [tool] = agent?.tools ?? [];
  return { tool, changesets, approver, agent: await scriptedAgent({ ...own, changesets, approver }) };
}

describe('bundle', () => {
  test('the agent of the example gives itself a tool', async () => {
    const { agent, changesets, approver } = await learner();
    expect((await agent.say('Learn to roll.')).text).toBe('The change: ok. ');
    expect(changesets.requests.map(({ kind }) => kind)).toEqual(['open', 'write', 'write', 'review', 'commit']);
    expect(approver.questions).toMatchObject([{ kind: 'change', toolName: 'bundle__commit' }]);
    expect(changesets.files.get('learner.yaml')).toContain('tools: [Tool/bundle, Tool/dice]');
    expect(changesets.files.get('tools/dice.ts')).toContain('roll');
  });

  test('a turn that was interrupted repeats everything but the opening', async () => {
    const { tool } = await learner();
    expect(tool?.exports.filter(({ idempotent }) => idempotent).map(({ name }) => name)).toEqual([
      'read',
      'write',
      'commit',
    ]);
  });

  test('reads files with the edits, and deletes them', async () => {
    const changesetId = 'changeset-1';
    const path = 'learner.yaml';
    const calls = [
      { tool: 'bundle__open', args: {} },
      { tool: 'bundle__read', args: { changesetId, path } },
      { tool: 'bundle__write', args: { changesetId, path, content: 'x' } },
      { tool: 'bundle__read', args: { changesetId, path } },
      { tool: 'bundle__write', args: { changesetId, path, delete: true } },
      { tool: 'bundle__read', args: { changesetId, path } },
      { tool: 'bundle__write', args: { changesetId, path, content: '' } },
      { tool: 'bundle__read', args: { changesetId, path } },
    ];
    const script = calls.map((call, index) => ({ when: `^${index}$`, call }));
    const { agent } = await learner([...script, { say: 'ok' }]);
    const outputs: unknown[] = [];
    for (const index of calls.keys()) await agent.say(`${index}`);
    for (const { data } of await agent.messages()) {
      if (data.role === 'tool')
        outputs.push(...data.content.map(({ output }) => ('value' in output ? output.value : output)));
    }
    expect(outputs).toMatchObject([
      { changesetId, files: [path] },
      { path, content: expect.stringContaining('Tool/bundle') },
      { changesetId, path, written: true },
      { path, content: 'x' },
      { changesetId, path, deleted: true },
      { path, deleted: true },
      { changesetId, path, written: true },
      { path, content: '' },
    ]);
  });

  test.each([
    ['neither content nor delete', { changesetId: 'c', path: 'a' }],
    ['both content and delete', { changesetId: 'c', path: 'a', content: '', delete: true }],
    ['delete: false', { changesetId: 'c', path: 'a', delete: false }],
    ['no path', { changesetId: 'c', content: '' }],
  ])('a write with %s is refused', async (_, args) => {
    const { agent, changesets } = await learner([
      { when: 'go', call: { tool: 'bundle__write', args } },
      { say: '{{result.error.code}}' },
    ]);
    expect((await agent.say('go')).text).toBe('E_TOOL_ARGUMENTS');
    expect(changesets.requests).toEqual([]);
  });
});

// Tests the walk of a changeset with a real disk, a real reloader and fake agents. The examination is fake.
import { describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AgentAddress,
  type ChangesetCommitResult,
  errorCatalogue,
  GoondanError,
  type JsonObject,
  type OpenedChangeset,
} from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { Candidate, Examination, Examine } from '../../config/examination.ts';
import type { ChangesPolicy } from '../../config/swarm-policy.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { ChangesetReview } from '../../ipc/changeset-answers.ts';
import type { ChangesetRequest } from '../../ipc/from-agent.ts';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { fakeEvent, openFakeSwarm } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { UnwritableFile } from '../../workspace/changesets/move-files.ts';
import { openChangesets } from '../../workspace/changesets/open-changesets.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import type { Connections } from '../connections/connections.ts';
import { swarmReloader } from '../reload/reload-swarm.ts';
import { answerRequest } from './answer-request.ts';
import { until } from '../../../../../test/until.ts';

const { cleanups } = closeAfterEach();

const at: AgentAddress = { agentName: 'a', instanceKey: 'default' };
const other: AgentAddress = { agentName: 'a', instanceKey: 'other' };
const during = fakeEvent('go', { id: 'e1' });

function makeFolders() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-changesets-')));
  cleanups.push(() => rmSync(root, { recursive: true, force: true }));
  const bundleFolder = join(root, 'bundle');
  mkdirSync(bundleFolder);
  writeFileSync(join(bundleFolder, 'prompt.md'), 'old\n');
  return { stateRoot: join(root, 'state'), bundleFolder };
}

interface OpenOptions {
  readonly changes?: ChangesPolicy;
  readonly folders?: ReturnType<typeof makeFolders>;
  /** The clock of the changesets on disk. */
  readonly clock?: Clock;
}

/** An answer to a question; by default, a yes to this conversation's changeset. */
interface Given {
  readonly decision?: 'approved' | 'denied';
  readonly whose?: AgentAddress;
  readonly kind?: 'change' | 'call';
}

/** Opens a swarm whose agent `a` has a process. The prompt of this agent is the file `prompt.md` of the bundle. */
async function open({ changes = { allow: ['**'] }, folders = makeFolders(), clock = systemClock }: OpenOptions = {}) {
  const { stateRoot, bundleFolder } = folders;
  mkdirSync(stateRoot, { recursive: true });
  const opened = await openFakeSwarm(async () => 'done', { stateRoot, policy: { changes } });
  cleanups.push(() => opened.close());
  const { currentPlan, swarm, agents } = opened;
  const prompt = () => readFileSync(join(bundleFolder, 'prompt.md'), 'utf8');
  const withAgent = (more: Partial<DeclaredAgent>): SwarmPlan => {
    const { plan } = currentPlan.value;
    return { ...plan, agents: plan.agents.map((agent) => (agent.agentName === 'a' ? { ...agent, ...more } : agent)) };
  };
  currentPlan.replace(withAgent({ systemPrompt: prompt() }));

  const said: string[] = [];
  const control = {
    /** Replaces the examination or a part of its candidate. */
    examination: undefined as Examination | undefined,
    candidate: {} as Partial<Candidate>,
    /** Called before the trial; may throw. */
    onTrial: () => {},
    onExamine: (): unknown => undefined,
    trialFolder: '',
    /** The rules of the latest examination. */
    rules: {},
  };
  const connections = { replace: () => undefined } as Pick<Connections, 'replace'> as Connections;
  const trials = {
    agent: async ({ systemPrompt }: DeclaredAgent) => {
      said.push(`try ${JSON.stringify(systemPrompt)} beside ${JSON.stringify(prompt())}`);
      control.onTrial();
    },
    connection: async () => undefined,
  };
  const reloader = swarmReloader({ currentPlan, swarm, connections, trials, clock: systemClock }, async () =>
    withAgent({ systemPrompt: prompt() }),
  );
  cleanups.push(() => reloader.close());
  const store = openChangesets({ stateRoot, bundleFolder, clock });
  const deps = {
    store,
    clock,
    currentPlan,
    reloader,
    questions: swarm.questions,
    report: swarm.report.bind(swarm),
    examine: async ({ edits, trialFolder, ...rules }: Parameters<Examine>[0]) => {
      control.rules = rules;
      said.push(`examine in ${readdirSync(trialFolder).length} files`);
      control.trialFolder = trialFolder;
      await control.onExamine();
      if (control.examination !== undefined) return control.examination;
      const systemPrompt = new TextDecoder().decode(edits[0]?.content ?? new Uint8Array());
      const wanted = withAgent({ systemPrompt });
      const present = withAgent({ systemPrompt: prompt() });
      const refs = { baseRef: 'base', newRef: 'new', addedTools: ['clock'] };
      const onTrial = withAgent({ systemPrompt: `${systemPrompt} on trial` });
      return { status: 'fits' as const, candidate: { present, wanted, onTrial, ...refs, ...control.candidate } };
    },
  };
  agents.onChange = (child, { change }) => {
    said.push(`prepare beside ${JSON.stringify(prompt())}`);
    void child.channel.send({ type: 'change.ready', change });
  };

  const ask = <Answer>(request: ChangesetRequest, whose = at, signal = new AbortController().signal) =>
    // The cast is safe: each request has an answer of its own kind.
    answerRequest(deps, { at: whose, during, request, signal }) as Promise<Answer>;
  const openChange = async (content: string | undefined = 'new\n', path = 'prompt.md') => {
    const { changesetId } = await ask<{ changesetId: string }>({ kind: 'open' });
    if (content !== undefined) await ask({ kind: 'write', changesetId, path, content });
    return changesetId;
  };
  const review = (changesetId: string) =>
    ask<{ review: ChangesetReview; outcome: undefined } | { outcome: ChangesetCommitResult; review: undefined }>({
      kind: 'review',
      changesetId,
    });
  let asked = 0;
  /** Asks a person about a changeset, as the agent process does, and answers. */
  const approve = async (args: object, given: Given = {}) => {
    const { decision = 'approved', whose = at, kind = 'change' } = given;
    const known = new Set(swarm.questions.pending().map(({ id }) => id));
    swarm.questions.ask(whose, during, {
      ...{ type: 'question.ask', callId: 'q', key: `k${(asked += 1)}`, toolCallId: 't', kind },
      ...{ toolName: 'bundle__commit', args: args as JsonObject, reason: 'r', expiresInMs: 60_000 },
    });
    const id = await until(() => swarm.questions.pending().find((each) => !known.has(each.id))?.id);
    await swarm.questions.answer({ id, decision, by: 'ann', via: 'chat' });
    return id;
  };
  const commit = async (changesetId: string, more: { digest: string; approvalId?: string }, signal?: AbortSignal) =>
    (await ask<{ outcome: ChangesetCommitResult }>({ kind: 'commit', changesetId, ...more }, at, signal)).outcome;
  /** Reviews, approves and commits. */
  const finish = async (changesetId: string) => {
    const { review: fit } = await review(changesetId);
    if (fit === undefined) throw new Error('rejected');
    return commit(changesetId, { digest: fit.toApprove.digest, approvalId: await approve(fit.toApprove) });
  };
  const events = () => opened.lines.flatMap(({ event = '' }) => (event.startsWith('changeset.') ? [event] : []));
  const untouched = () => ({ prompt: prompt(), inForce: currentPlan.value.agents.get('a')?.systemPrompt });
  const trialFolders = () =>
    readdirSync(stateRoot, { recursive: true })
      .map(String)
      .filter((path) => /\/trials\//.test(path));
  await opened.send('a', 'hello');
  return {
    ...opened,
    bundleFolder,
    folders,
    control,
    said,
    store,
    reloader,
    ask,
    openChange,
    review,
    approve,
    commit,
    finish,
    prompt,
    events,
    untouched,
    trialFolders,
  };
}

const old = { prompt: 'old\n', inForce: 'old\n' };

async function reviewed(opened: Awaited<ReturnType<typeof open>>, content?: string) {
  const changesetId = await opened.openChange(content);
  const { review } = await opened.review(changesetId);
  if (review === undefined) throw new Error('rejected');
  return { ...review, ...review.toApprove };
}

async function approved(opened: Awaited<ReturnType<typeof open>>) {
  const { changesetId, digest, toApprove } = await reviewed(opened);
  return { changesetId, digest, approvalId: await opened.approve(toApprove) };
}

describe('a changeset', () => {
  test('L-05 is reviewed, approved, tried, put into the bundle and in force, in this order', async () => {
    const opened = await open();
    const { ask, said, prompt, untouched } = opened;
    const { changesetId, expiresAt, allow, files } = await ask<OpenedChangeset>({ kind: 'open' });
    expect([typeof expiresAt, allow, files]).toEqual(['string', ['**'], ['prompt.md']]);
    expect(await ask<object>({ kind: 'read', changesetId, path: 'prompt.md' })).toEqual({ content: 'old\n' });
    expect(await ask<object>({ kind: 'write', changesetId, path: 'prompt.md', content: 'new\n' })).toEqual({});
    const { review } = await opened.review(changesetId);
    expect(review).toMatchObject({
      needsApproval: true,
      toApprove: { changesetId, files: [{ path: 'prompt.md', change: 'changed' }] },
    });
    expect(review?.toApprove.files[0]?.diff).toContain('-old\n+new\n');
    expect(said).toEqual(['examine in 0 files']);
    expect(untouched()).toEqual(old);
    if (review === undefined) throw new Error('rejected');
    const { toApprove } = review;
    const { digest } = toApprove;
    const outcome = await opened.commit(changesetId, { digest, approvalId: await opened.approve(toApprove) });
    expect(outcome).toEqual({
      status: 'ok',
      changesetId,
      baseRef: 'base',
      newRef: 'new',
      summary: { filesChanged: ['prompt.md'], filesAdded: [], filesDeleted: [] },
    });
    expect(said.slice(1)).toEqual([
      'examine in 0 files',
      String.raw`try "new\n on trial" beside "old\n"`,
      String.raw`prepare beside "new\n"`,
    ]);
    expect(untouched()).toEqual({ prompt: 'new\n', inForce: 'new\n' });
    expect(await opened.store.get(changesetId)).toMatchObject({
      state: 'committed',
      commit: { by: 'ann', via: 'chat', digest, addedTools: ['clock'] },
    });
    const line = opened.lines.find(({ event }) => event === 'changeset.committed');
    expect(line).toMatchObject({
      ...{ agent: 'a', instance: 'default', turnId: 'turn-e1', traceId: during.traceId },
      message: expect.stringMatching(/: prompt\.md\. Approved by ann via chat\.$/),
      data: { changesetId, agent: 'a', files: ['prompt.md'], by: 'ann', via: 'chat', baseRef: 'base', newRef: 'new' },
    });
    expect(opened.reloader.reports).toMatchObject([
      { message: 'Reloaded: changed Agent/a; 5 kept.', changeset: { id: changesetId, agent: 'a' } },
    ]);
    expect(opened.trialFolders()).toEqual([]);
    // `--watch` reads the bundle after the commit.
    expect((await opened.reloader.reload()).changed).toEqual([]);
    expect(prompt()).toBe('new\n');
  });

  test('L-05 is committed once: a repeated commit has the same outcome and changes nothing', async () => {
    const opened = await open();
    const { changesetId, digest, approvalId } = await approved(opened);
    const [one, two] = await Promise.all([1, 2].map(() => opened.commit(changesetId, { digest, approvalId })));
    expect(one).toMatchObject({ status: 'ok' });
    if (one === undefined) throw new Error('not committed');
    expect(two).toEqual(one);
    opened.swarm.questions.taken(at, approvalId);
    expect(await opened.commit(changesetId, { digest, approvalId })).toEqual(one);
    expect((await opened.review(changesetId)).outcome).toEqual(one);
    expect(opened.said.filter((each) => each.startsWith('prepare'))).toHaveLength(1);
    expect(opened.events()).toEqual(['changeset.committed']);
  });

  test('L-05 survives the orchestrator: the next one finds its edits, its approval and its outcome', async () => {
    const first = await open();
    const { changesetId, digest, approvalId } = await approved(first);
    await first.close();
    const second = await open({ folders: first.folders });
    const outcome = await second.commit(changesetId, { digest, approvalId });
    expect(outcome).toMatchObject({ status: 'ok' });
    await second.close();
    const third = await open({ folders: first.folders });
    expect(await third.commit(changesetId, { digest })).toEqual(outcome);
    expect(third.said).toEqual([]);
  });

  test('cannot be opened if the policy allows no file', async () => {
    const { ask, store } = await open({ changes: {} });
    expect(await rejectionOf(ask({ kind: 'open' }))).toMatchObject({
      code: 'E_CHANGESET_POLICY',
      suggestion: expect.stringContaining('`Swarm.spec.policy.changes.allow`'),
    });
    expect(await store.list()).toEqual([]);
  });

  test('that makes room for another one is reported', async () => {
    const opened = await open();
    const first = await opened.openChange();
    for (let count = 0; count < 8; count += 1) await opened.openChange();
    expect(opened.lines.filter(({ event }) => event === 'changeset.deleted')).toMatchObject([
      { level: 'warn', agent: 'a', data: { changesetId: first } },
    ]);
  });

  test('that conflicts with an edit by hand is committed after it was read again and written again', async () => {
    const opened = await open();
    const changesetId = await opened.openChange();
    writeFileSync(join(opened.bundleFolder, 'prompt.md'), 'by hand\n');
    await opened.reloader.reload();
    expect((await opened.review(changesetId)).outcome).toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('Read these files again'),
    });
    const { content } = await opened.ask<{ content: string }>({ kind: 'read', changesetId, path: 'prompt.md' });
    await opened.ask({ kind: 'write', changesetId, path: 'prompt.md', content: `${content}new\n` });
    expect(await opened.finish(changesetId)).toMatchObject({ status: 'ok' });
    expect(opened.prompt()).toBe('by hand\nnew\n');
  });

  test('of another conversation is unknown', async () => {
    const opened = await open();
    const changesetId = await opened.openChange();
    const requests: ChangesetRequest[] = [
      { kind: 'read', changesetId, path: 'prompt.md' },
      { kind: 'write', changesetId, path: 'prompt.md', content: '' },
      { kind: 'review', changesetId },
      { kind: 'commit', changesetId, digest: 'd' },
    ];
    for (const request of requests) {
      for (const whose of [other, { ...at, agentName: 'b' }]) {
        expect(await rejectionOf(opened.ask(request, whose))).toMatchObject({ code: 'E_CHANGESET_UNKNOWN' });
      }
    }
    expect(opened.untouched()).toEqual(old);
  });

  test('L-05 is reviewed after the interrupted commit of another one is finished, which is reported', async () => {
    const opened = await open();
    const [changesetId, killed] = [await opened.openChange(), await opened.openChange('killed\n')];
    const { edits, digest } = await opened.store.edits(killed);
    const begun = Promise.withResolvers<void>();
    const refs = { digest, baseRef: 'base', newRef: 'new', addedTools: [] };
    void openChangesets({ ...opened.folders, flock: false }).apply(killed, edits, refs, () => {
      begun.resolve();
      return new Promise(() => undefined);
    });
    await begun.promise;
    expect((await opened.review(changesetId)).outcome).toMatchObject({ reason: 'conflict' });
    expect((await opened.store.get(killed)).state).toBe('committed');
    expect(opened.events()).toEqual(['changeset.recovered', 'changeset.rejected']);
  });

  test('can delete a file', async () => {
    const { ask, openChange, review } = await open();
    const changesetId = await openChange();
    await ask({ kind: 'write', changesetId, path: 'prompt.md' });
    expect(await ask<object>({ kind: 'read', changesetId, path: 'prompt.md' })).toEqual({ content: null });
    expect((await review(changesetId)).review?.toApprove.files).toMatchObject([{ change: 'deleted' }]);
  });

  test('is reviewed with the time until it expires, for the question to a person', async () => {
    const clock = manualClock(new Date());
    const opened = await open({ clock });
    const { changesetId, expiresInMs } = await reviewed(opened);
    expect(expiresInMs).toBe(86_400_000);
    await clock.advance(80_000_000);
    expect((await opened.review(changesetId)).review?.expiresInMs).toBe(6_400_000);
  });

  test('asks nobody if the policy says so', async () => {
    const opened = await open({ changes: { allow: ['*.md'], approve: false } });
    const { changesetId, digest, needsApproval, toApprove } = await reviewed(opened);
    expect(opened.control.rules).toEqual({ allow: ['*.md'], addedTools: [], addedFiles: [] });
    expect([needsApproval, toApprove.files]).toEqual([false, []]);
    expect(await opened.commit(changesetId, { digest })).toMatchObject({ status: 'ok' });
    expect((await opened.store.get(changesetId)).commit).not.toHaveProperty('by');
    expect(opened.lines.find(({ event }) => event === 'changeset.committed')?.message).toContain(
      'No approval was needed',
    );
    await reviewed(opened, 'newer\n');
    expect(opened.control.rules).toMatchObject({ addedTools: ['clock'] });
  });

  test('L-05 is judged by the policy in force at the moment of the commit', async () => {
    const opened = await open({ changes: { allow: ['**'], approve: false } });
    const { changesetId, digest } = await reviewed(opened);
    const { plan } = opened.currentPlan.value;
    opened.currentPlan.replace({ ...plan, policy: { ...plan.policy, changes: { allow: ['**'] } } });
    expect(await opened.commit(changesetId, { digest })).toMatchObject({
      status: 'rejected',
      reason: 'policy_violation',
    });
    expect(opened.untouched()).toEqual(old);
  });
});

describe('L-05 a commit changes nothing and says why', () => {
  test.each<
    [string, (opened: Awaited<ReturnType<typeof open>>, review: ChangesetReview) => Promise<string | undefined>]
  >([
    ['without an approval', async () => undefined],
    ['with a forged approval', async () => 'deadbeef'],
    ['with a denied approval', async ({ approve }, { toApprove }) => approve(toApprove, { decision: 'denied' })],
    [
      'with an approval of another conversation',
      async ({ approve }, { toApprove }) => approve(toApprove, { whose: other }),
    ],
    [
      'with an approval of another digest',
      async ({ approve }, { toApprove }) => approve({ ...toApprove, digest: 'x' }),
    ],
    ['with an approval of another diff', async ({ approve }, { toApprove }) => approve({ ...toApprove, files: [] })],
    ['with an approval of a tool call', async ({ approve }, { toApprove }) => approve(toApprove, { kind: 'call' })],
    [
      'with an approval that was taken',
      async ({ approve, swarm }, { toApprove }) => {
        const id = await approve(toApprove);
        swarm.questions.taken(at, id);
        return id;
      },
    ],
  ])('%s', async (_, findApproval) => {
    const opened = await open();
    const review = await reviewed(opened);
    const { changesetId, digest } = review;
    const approvalId = await findApproval(opened, review);
    const outcome = await opened.commit(changesetId, {
      digest,
      ...(approvalId !== undefined && { approvalId }),
    });
    expect(outcome).toMatchObject({ status: 'rejected', changesetId, reason: 'policy_violation' });
    expect(opened.untouched()).toEqual(old);
    expect(opened.said.some((each) => each.startsWith('try'))).toBe(false);
    expect(opened.events()).toEqual(['changeset.rejected']);
    expect(opened.lines.at(-1)).toMatchObject({
      level: 'warn',
      data: { changesetId, agent: 'a', files: ['prompt.md'], reason: 'policy_violation' },
    });
    expect((await opened.store.get(changesetId)).state).toBe('open');
  });

  test('when its edits changed after the approval', async () => {
    const opened = await open();
    const { changesetId, digest, approvalId } = await approved(opened);
    await opened.ask({ kind: 'write', changesetId, path: 'prompt.md', content: 'evil\n' });
    expect(await opened.commit(changesetId, { digest, approvalId })).toMatchObject({ reason: 'conflict' });
    const again = await opened.review(changesetId);
    expect(
      await opened.commit(changesetId, { digest: again.review?.toApprove.digest ?? '', approvalId }),
    ).toMatchObject({
      reason: 'policy_violation',
    });
    expect(opened.untouched()).toEqual(old);
  });

  test('when a file was edited by hand, before or during the trial', async () => {
    for (const when of ['before', 'during'] as const) {
      const opened = await open();
      const { changesetId, digest, approvalId } = await approved(opened);
      const edit = () => writeFileSync(join(opened.bundleFolder, 'prompt.md'), 'by hand\n');
      if (when === 'before') edit();
      opened.control.onTrial = edit;
      const outcome = await opened.commit(changesetId, { digest, approvalId });
      expect(outcome).toMatchObject({ status: 'rejected', reason: 'conflict' });
      if (when === 'before') expect(outcome).toMatchObject({ violations: ['prompt.md was edited.'] });
      expect(opened.untouched()).toEqual({ prompt: 'by hand\n', inForce: 'old\n' });
    }
  });

  test('when the bundle was edited and not reloaded', async () => {
    const opened = await open();
    opened.control.candidate = { present: { ...opened.currentPlan.value.plan, entryAgent: 'b' } };
    const changesetId = await opened.openChange();
    const { outcome } = await opened.review(changesetId);
    expect(outcome).toMatchObject({ status: 'rejected', reason: 'conflict' });
    expect(opened.events()).toEqual(['changeset.rejected']);
  });

  test('when it has no edits, or the examination rejects it', async () => {
    const opened = await open();
    const empty = await opened.openChange('old\n');
    expect((await opened.review(empty)).outcome).toMatchObject({ reason: 'invalid_files' });
    const violations = ['goondan.yaml removes Agent/b.', 'It removes Agent/c.'];
    const message = `${violations[0]} There is one more.`;
    opened.control.examination = { status: 'rejected', reason: 'policy_violation', message, violations };
    const changesetId = await opened.openChange();
    expect((await opened.review(changesetId)).outcome).toEqual({
      status: 'rejected',
      changesetId,
      reason: 'policy_violation',
      message,
      violations,
    });
    // The log and the notes have each violation once.
    const all = `(policy_violation): ${message} It removes Agent/c.`;
    expect(opened.lines.at(-1)?.message).toEndWith(all);
    await opened.review(changesetId);
    expect((await opened.store.get(changesetId)).notes).toEqual([`Rejected ${all}`]);
    expect(opened.trialFolders()).toEqual([]);
  });

  test('when it is written to during its examination', async () => {
    const opened = await open();
    const changesetId = await opened.openChange();
    opened.control.onExamine = () => opened.ask({ kind: 'write', changesetId, path: 'prompt.md', content: 'evil\n' });
    expect((await opened.review(changesetId)).outcome).toMatchObject({ reason: 'conflict' });
  });

  test('when the bundle cannot be written, and names its file', async () => {
    const opened = await open();
    const changesetId = await opened.openChange();
    const cause = Object.assign(new Error("EACCES: permission denied, open '/home/me/x'"), { code: 'EACCES' });
    opened.store.apply = async () => {
      throw new UnwritableFile('prompt.md', new GoondanError('E_STORE_WRITE', 'Cannot write /home/me/x', { cause }));
    };
    const message = 'prompt.md of the bundle cannot be written: EACCES: permission denied.';
    expect(await opened.finish(changesetId)).toMatchObject({ error: { code: 'E_STORE_WRITE', message } });
    expect(opened.lines.at(-1)?.message).toContain(message);
  });

  test('when its examination fails: no path of the state root reaches the agent', async () => {
    const opened = await open();
    const changesetId = await opened.openChange();
    opened.control.onExamine = () => {
      const { trialFolder } = opened.control;
      const place = { file: `${trialFolder}${opened.bundleFolder}/tool.ts`, line: 1, column: 1 };
      const error = new GoondanError('E_STORE_WRITE', `${trialFolder}/x: no`, { suggestion: 'Look.' });
      throw Object.assign(error, { place });
    };
    expect((await opened.review(changesetId)).outcome).toEqual({
      status: 'error',
      changesetId,
      error: { code: 'E_STORE_WRITE', message: errorCatalogue.E_STORE_WRITE.meaning },
    });
    expect(opened.lines.at(-1)).toMatchObject({ level: 'error', data: { changesetId, code: 'E_STORE_WRITE' } });
    expect(opened.reloader.reports).toMatchObject([
      { error: { message: '/x: no', suggestion: 'Look.', place: { file: 'tool.ts' } } },
    ]);
  });

  test('when another process replaces files, for which the swarm does not wait', async () => {
    // Time stands still, so a wait for the other process would never end.
    const opened = await open({ clock: manualClock(new Date()) });
    const [changesetId, theirs] = [await opened.openChange(), await opened.openChange('theirs\n')];
    const { edits, digest } = await opened.store.edits(theirs);
    const refs = { digest, baseRef: 'base', newRef: 'new', addedTools: [] };
    const { stateRoot, bundleFolder } = opened.folders;
    const review = openChangesets({ stateRoot, bundleFolder }).apply(theirs, edits, refs, async () => {
      const { outcome } = await opened.review(changesetId);
      expect(outcome).toMatchObject({ status: 'error', error: { code: 'E_CHANGESET_BUSY' } });
      throw new Error('crash');
    });
    expect(await rejectionOf(review)).toMatchObject({ message: 'crash' });
  });

  test('when its diff is longer than a person can judge', async () => {
    const opened = await open();
    const changesetId = await opened.openChange(`${'x'.repeat(300_000)}\n`);
    expect((await opened.review(changesetId)).outcome).toMatchObject({
      reason: 'invalid_files',
      message: expect.stringMatching(/^The diff has at least 301\d+ bytes/),
    });
  });

  test('when a part throws on trial', async () => {
    const opened = await open();
    opened.control.onTrial = () => {
      throw new GoondanError('E_EXT_INIT', `${opened.control.trialFolder}${opened.bundleFolder}/tool.ts throws.`);
    };
    const outcome = await opened.finish(await opened.openChange());
    expect(outcome).toMatchObject({
      status: 'error',
      error: {
        code: 'E_RELOAD_FAILED',
        message: 'Agent/a does not start with the changed bundle. E_EXT_INIT: tool.ts throws.',
      },
    });
    expect(opened.untouched()).toEqual(old);
    expect(opened.events()).toEqual(['changeset.failed']);
    expect(opened.reloader.reports).toMatchObject([{ error: { code: 'E_RELOAD_FAILED' } }]);
    expect(opened.trialFolders()).toEqual([]);
  });

  test('when a running process cannot take it: the files are put back', async () => {
    const opened = await open();
    opened.agents.onChange = (child, { change }) => {
      expect(opened.prompt()).toBe('new\n');
      void child.channel.send({ type: 'change.failed', change, error: { code: 'E_EXT_INIT', message: 'no' } });
    };
    const changesetId = await opened.openChange();
    expect(await opened.finish(changesetId)).toMatchObject({ status: 'error', error: { code: 'E_RELOAD_FAILED' } });
    expect(opened.untouched()).toEqual(old);
    expect(await opened.store.get(changesetId)).toMatchObject({ state: 'open' });
  });

  test.each(['withdrawn', 'stopped'])(
    'when it is %s before its files are replaced, and is finished after that',
    async (how) => {
      for (const when of ['queued', 'examined', 'tried', 'replaced'] as const) {
        const opened = await open();
        const { changesetId, digest, approvalId } = await approved(opened);
        const withdrawn = new AbortController();
        const code = how === 'stopped' ? 'E_SWARM_STOPPED' : 'E_CANCELLED';
        const stop = () =>
          how === 'stopped'
            ? void opened.reloader.close()
            : withdrawn.abort(new GoondanError('E_CANCELLED', 'withdrawn'));
        opened.control.onExamine = () => void (when === 'examined' && stop());
        opened.control.onTrial = () => {
          if (when !== 'tried') return;
          stop();
          throw new Error('The trial was ended.');
        };
        opened.agents.onChange = (child, { change }) => {
          stop();
          void child.channel.send({ type: 'change.ready', change });
        };
        const committed = opened.commit(changesetId, { digest, approvalId }, withdrawn.signal);
        if (when === 'queued') stop();
        const outcome = await committed;
        const isDone = when === 'replaced';
        expect([when, outcome]).toMatchObject([when, isDone ? { status: 'ok' } : { status: 'error', error: { code } }]);
        if (!isDone) expect(opened.lines.at(-1)).toMatchObject({ level: 'info', event: 'changeset.failed' });
        expect(opened.reloader.reports).toHaveLength(isDone ? 1 : 0);
        // One more examination than that of the review.
        expect(opened.said.filter((each) => each.startsWith('examine'))).toHaveLength(when === 'queued' ? 1 : 2);
        expect(opened.untouched()).toEqual(isDone ? { prompt: 'new\n', inForce: 'new\n' } : old);
        expect((await opened.store.get(changesetId)).state).toBe(isDone ? 'committed' : 'open');
        expect(opened.trialFolders()).toEqual([]);
        expect(existsSync(opened.bundleFolder)).toBe(true);
      }
    },
  );
});

test('L-05 a disk that fails while a commit is given up is an error in the log', async () => {
  const opened = await open();
  const { changesetId, digest, approvalId } = await approved(opened);
  const withdrawn = new AbortController();
  opened.store.apply = async () => {
    withdrawn.abort(new GoondanError('E_CANCELLED', 'withdrawn'));
    throw new GoondanError('E_DISK_FULL', 'A change of the files could not be taken back: the disk is full.');
  };
  const outcome = await opened.commit(changesetId, { digest, approvalId }, withdrawn.signal);
  expect(outcome).toMatchObject({ status: 'error', error: { code: 'E_DISK_FULL' } });
  expect(opened.lines.at(-1)).toMatchObject({
    level: 'error',
    event: 'changeset.failed',
    data: { code: 'E_DISK_FULL' },
  });
});

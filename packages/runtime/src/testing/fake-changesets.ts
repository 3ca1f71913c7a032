/** Fakes the changesets of a swarm in memory, for tests of tools that use `ctx.bundle`. It checks no policy. */
import { type ChangesetCommitResult, type ChangesetSummary, GoondanError } from '@goondan/types';
import type { Changesets } from '../agent/seams/changesets.ts';
import type { ChangesetAnswers, ChangesetReview, FileChange } from '../ipc/changeset-answers.ts';
import type { ChangesetRequest } from '../ipc/from-agent.ts';
import { digestJson } from '../json/digest-json.ts';

export interface FakeChangesets extends Changesets {
  /** Every request, in order. */
  readonly requests: readonly ChangesetRequest[];
  /** The files of the bundle by path. A commit changes them. */
  readonly files: Map<string, string>;
}

export interface FakeChangesetsOptions {
  readonly files?: Readonly<Record<string, string>>;
  /** True unless set: a person must approve each commit. See `fakeApprover`. */
  readonly approve?: boolean;
  /** The outcome of each check before a commit; `undefined`, or when absent: the changeset is fine. */
  readonly reject?: (edits: ReadonlyMap<string, string | null>) => ChangesetCommitResult | undefined;
}

interface FakeChangeset {
  readonly edits: Map<string, string | null>;
  outcome?: ChangesetCommitResult;
}

/** @example const agent = await scriptedAgent({ tools, changesets: fakeChangesets({ files: { 'prompt.md': 'Hi.' } }) }) */
export function fakeChangesets(options: FakeChangesetsOptions = {}): FakeChangesets {
  const { approve = true, reject = () => undefined } = options;
  const files = new Map(Object.entries(options.files ?? {}));
  const requests: ChangesetRequest[] = [];
  const opened = new Map<string, FakeChangeset>();
  const find = (id: string): FakeChangeset => {
    const found = opened.get(id);
    if (found === undefined) throw new GoondanError('E_CHANGESET_UNKNOWN', `There is no changeset "${id}".`);
    return found;
  };
  const answers: { [Kind in keyof ChangesetAnswers]: (request: RequestOf<Kind>) => ChangesetAnswers[Kind] } = {
    open() {
      const changesetId = `changeset-${opened.size + 1}`;
      opened.set(changesetId, { edits: new Map() });
      return { changesetId, expiresAt: '2026-01-02T00:00:00.000Z', allow: ['**'], files: [...files.keys()].toSorted() };
    },
    read({ changesetId, path }) {
      const { edits } = find(changesetId);
      const content = edits.has(path) ? edits.get(path) : files.get(path);
      if (content === undefined) throw new GoondanError('E_CHANGESET_FILE', `The bundle has no file "${path}".`);
      return { content };
    },
    write({ changesetId, path, content = null }) {
      find(changesetId).edits.set(path, content);
      return {};
    },
    review({ changesetId }) {
      const { edits, outcome } = find(changesetId);
      const ended = outcome ?? reject(edits);
      return ended === undefined ? { review: reviewOf(changesetId, edits, files, approve) } : { outcome: ended };
    },
    commit({ changesetId, digest }) {
      const changeset = find(changesetId);
      const { edits } = changeset;
      const outcome = changeset.outcome ?? reject(edits);
      if (outcome !== undefined) return { outcome };
      if (digestOf(edits) !== digest) {
        const message = 'The changeset was changed after the check.';
        return { outcome: { status: 'rejected', changesetId, reason: 'conflict', message } };
      }
      const baseRef = digestOf(files);
      const summary = summaryOf(changesOf(edits, files));
      for (const [path, content] of edits) {
        if (content === null) files.delete(path);
        else files.set(path, content);
      }
      changeset.outcome = { status: 'ok', changesetId, baseRef, newRef: digestOf(files), summary };
      return { outcome: changeset.outcome };
    },
  };
  return {
    swarmName: 'default',
    requests,
    files,
    async ask(request, signal) {
      signal.throwIfAborted();
      requests.push(request);
      // Safe: the table has the answer of each kind of request.
      const answer = answers[request.kind] as (asked: typeof request) => ChangesetAnswers[typeof request.kind];
      return answer(request);
    },
  };
}

type RequestOf<Kind> = Extract<ChangesetRequest, { readonly kind: Kind }>;

function reviewOf(
  changesetId: string,
  edits: ReadonlyMap<string, string | null>,
  files: ReadonlyMap<string, string>,
  needsApproval: boolean,
): ChangesetReview {
  const digest = digestOf(edits);
  return { needsApproval, toApprove: { changesetId, digest, files: changesOf(edits, files) }, expiresInMs: 3_600_000 };
}

function changesOf(edits: ReadonlyMap<string, string | null>, files: ReadonlyMap<string, string>): FileChange[] {
  return [...edits]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, after]) => {
      const before = files.get(path);
      const change = after === null ? 'deleted' : before === undefined ? 'added' : 'changed';
      return { path, change, diff: [...linesOf(before, '-'), ...linesOf(after, '+')].join('\n') };
    });
}

function linesOf(text: string | null | undefined, sign: string): string[] {
  return (text ?? '') === '' ? [] : (text ?? '').split('\n').map((line) => `${sign}${line}`);
}

function summaryOf(changes: readonly FileChange[]): ChangesetSummary {
  const of = (wanted: FileChange['change']) =>
    changes.filter(({ change }) => change === wanted).map(({ path }) => path);
  return { filesChanged: of('changed'), filesAdded: of('added'), filesDeleted: of('deleted') };
}

function digestOf(texts: ReadonlyMap<string, string | null>): string {
  return digestJson(Object.fromEntries(texts));
}

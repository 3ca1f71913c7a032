import type { Done, WorkspaceView } from '@goondan/cli/studio';
import { useState } from 'react';
import { Diff } from '../text/diff.tsx';
import { useBorrowedFocus } from '../keyboard/use-borrowed-focus.ts';
import { Problem } from '../problems/problem.tsx';
import { addressOf, postTo } from '../server/ask-server.ts';
import { describeMoment } from '../time/describe-time.ts';
import { subjectOf } from './subject-of.ts';

/** A tool call, a change or a budget that waits for approval: the exact arguments, or the diff of each file, and the two answers. */
export function QuestionCard({
  question,
  workspaceId,
}: {
  readonly question: WorkspaceView['questions'][number];
  readonly workspaceId: string;
}) {
  const [note, setNote] = useState('');
  const [state, setState] = useState<'open' | 'asked' | 'approved' | 'denied' | 'over'>('open');
  const [problem, setProblem] = useState<Error>();
  const card = useBorrowedFocus<HTMLElement>('.composer textarea');
  const { id, agent, toolName, kind, args, reason, expiresAt } = question;
  const isChange = kind === 'change';
  const isBudget = kind === 'budget';
  const files = isChange ? filesIn(args) : undefined;

  const answer = async (decision: 'approve' | 'deny') => {
    if (state !== 'open') return;
    setState('asked');
    try {
      const said = note.trim() === '' ? {} : { note: note.trim() };
      const { done } = await postTo<Done>(addressOf(workspaceId, 'approval'), { id, decision, ...said });
      setState(done ? (decision === 'approve' ? 'approved' : 'denied') : 'over');
      if (!done) setProblem(new Error('This question is no longer open: somebody else answered, or its turn ended.'));
    } catch (error) {
      setState('open');
      setProblem(error instanceof Error ? error : new Error(String(error)));
    }
  };

  return (
    <section ref={card} className="approval" aria-label={`${subjectOf(question)} waits for you`}>
      <header>
        <strong>{agent}</strong>{' '}
        {isChange ? (
          'wants to change its bundle'
        ) : isBudget ? (
          'needs more of a budget'
        ) : (
          <>
            wants to run <code className="tool-name">{toolName}</code>
          </>
        )}
        <span className="quiet">answer by {describeMoment(expiresAt)}</span>
      </header>
      {reason !== '' && <p>{reason}</p>}
      {files === undefined ? !isBudget && <pre>{JSON.stringify(args, null, 2)}</pre> : <Files files={files} />}
      <div className="approval-answers">
        <button
          type="button"
          className="primary"
          aria-disabled={state !== 'open'}
          onClick={() => void answer('approve')}
        >
          {state === 'approved' ? 'Approved' : 'Approve'}
        </button>
        <button type="button" aria-disabled={state !== 'open'} onClick={() => void answer('deny')}>
          {state === 'denied' ? 'Denied' : 'Deny'}
        </button>
        <input
          value={note}
          maxLength={1000}
          placeholder={isBudget ? 'Why not? Shown in the error of the turn.' : 'Why not? The agent reads it.'}
          aria-label={isBudget ? 'Why not, for the error of the turn' : 'Why not, for the agent to read'}
          readOnly={state !== 'open'}
          onChange={({ target }) => setNote(target.value)}
        />
      </div>
      {problem !== undefined && <Problem error={problem} />}
    </section>
  );
}

interface ChangedFile {
  readonly path: string;
  readonly change: string;
  readonly diff: string;
}

function Files({ files }: { readonly files: readonly ChangedFile[] }) {
  return files.map(({ path, change, diff }) => (
    <div key={path}>
      {change} <code>{path}</code>
      <Diff text={diff} />
    </div>
  ));
}

/** Returns the files of a change; `undefined` if the arguments do not describe files. */
function filesIn({ files }: WorkspaceView['questions'][number]['args']): readonly ChangedFile[] | undefined {
  if (!Array.isArray(files)) return undefined;
  const listed: readonly unknown[] = files;
  return listed.every(isChangedFile) ? listed : undefined;
}

function isChangedFile(file: unknown): file is ChangedFile {
  const { path, change, diff } = Object(file) as Record<string, unknown>;
  return [path, change, diff].every((text) => typeof text === 'string');
}

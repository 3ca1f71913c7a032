import type { Done, WorkspaceView } from '@goondan/cli/studio';
import { useState } from 'react';
import { Diff } from '../text/diff.tsx';
import { useBorrowedFocus } from '../keyboard/use-borrowed-focus.ts';
import { Problem } from '../problems/problem.tsx';
import { addressOf, postTo } from '../server/ask-server.ts';
import { describeMoment } from '../time/describe-time.ts';

/** A tool call that waits for approval: its exact arguments, or the diff of a changeset, and the two answers. */
export function ApprovalCard({
  approval,
  workspaceId,
}: {
  readonly approval: WorkspaceView['approvals'][number];
  readonly workspaceId: string;
}) {
  const [note, setNote] = useState('');
  const [state, setState] = useState<'open' | 'asked' | 'approved' | 'denied' | 'over'>('open');
  const [problem, setProblem] = useState<Error>();
  const card = useBorrowedFocus<HTMLElement>('.composer textarea');
  const { id, agent, toolName, kind, args, reason, expiresAt } = approval;
  const diff = kind === 'change' ? diffIn(args) : undefined;

  const answer = async (decision: 'approve' | 'deny') => {
    if (state !== 'open') return;
    setState('asked');
    try {
      const said = note.trim() === '' ? {} : { note: note.trim() };
      const { done } = await postTo<Done>(addressOf(workspaceId, 'approval'), { id, decision, ...said });
      setState(done ? (decision === 'approve' ? 'approved' : 'denied') : 'over');
      if (!done) setProblem(new Error('This call is no longer waiting: somebody else answered, or its turn ended.'));
    } catch (error) {
      setState('open');
      setProblem(error instanceof Error ? error : new Error(String(error)));
    }
  };

  return (
    <section ref={card} className="approval" aria-label={`${toolName} waits for you`}>
      <header>
        <strong>{agent}</strong> {kind === 'change' ? 'wants to change its bundle with' : 'wants to run'}{' '}
        <code className="tool-name">{toolName}</code>
        <span className="quiet">answer by {describeMoment(expiresAt)}</span>
      </header>
      {reason !== '' && <p>{reason}</p>}
      {diff === undefined ? <pre>{JSON.stringify(args, null, 2)}</pre> : <Diff text={diff} />}
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
          placeholder="Why not? The agent reads it."
          aria-label="Why not, for the agent to read"
          readOnly={state !== 'open'}
          onChange={({ target }) => setNote(target.value)}
        />
      </div>
      {problem !== undefined && <Problem error={problem} />}
    </section>
  );
}

/** Returns the diffs of a changeset; `undefined` if the arguments have none. */
function diffIn({ files }: WorkspaceView['approvals'][number]['args']): string | undefined {
  if (!Array.isArray(files) || files.length === 0) return undefined;
  const diffs = files.map((file): unknown => Reflect.get(Object(file), 'diff'));
  return diffs.every((each) => typeof each === 'string') ? diffs.join('') : undefined;
}

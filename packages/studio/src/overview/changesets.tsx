/** Lists the changes that agents made, or want to make, to the bundle of the swarm. The diff of one is read when it is opened. */
import type { ChangesetView, ChangesetWithDiff } from '@goondan/cli/studio';
import { useState } from 'react';
import { Problem } from '../problems/problem.tsx';
import { addressOf } from '../server/ask-server.ts';
import { useQuery } from '../server/use-query.ts';
import { Diff } from '../text/diff.tsx';
import { showText } from '../text/show-text.ts';
import { describeMoment } from '../time/describe-time.ts';

interface Place {
  readonly workspaceId: string;
  readonly version: number;
}

export function Changesets({ changesets, ...place }: Place & { readonly changesets: readonly ChangesetView[] }) {
  if (changesets.length === 0) return null;
  return (
    <section>
      <h2>Changesets</h2>
      <ul className="plain-list changesets">
        {changesets.map((changeset) => (
          <li key={changeset.id}>
            <span className={`dot ${dotOf(changeset)}`} aria-hidden="true" />
            <Changeset changeset={changeset} {...place} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Changeset({ changeset, workspaceId, version }: Place & { readonly changeset: ChangesetView }) {
  const [isOpen, setOpen] = useState(false);
  const { id, agent, instanceKey, files, notes } = changeset;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>{id}</code> {describeState(changeset)}{' '}
        <span className="quiet">
          {agent} ({instanceKey}) · {files.map(({ path, change }) => `${change} ${path}`).join(', ') || 'no files yet'}
        </span>
      </summary>
      {notes.map((note) => (
        <p key={note} className="note">
          {note}
        </p>
      ))}
      {isOpen && <ChangesetDiff address={addressOf(workspaceId, 'changeset', { id })} version={version} />}
    </details>
  );
}

function ChangesetDiff({ address, version }: { readonly address: string; readonly version: number }) {
  const { value, error } = useQuery<ChangesetWithDiff>(address, version);
  if (error !== undefined) return <Problem error={error} />;
  return value?.files.map(({ path, diff }) => <Diff key={path} text={diff} />);
}

function describeState(changeset: ChangesetView): string {
  const { state, openedAt, committedAt, approvedBy, approvedVia, undoneAt, undoneBy } = changeset;
  const by = (person: string | undefined) => (person === undefined ? '' : ` by ${showText(person)}`);
  if (undoneAt !== undefined) return `undone ${describeMoment(undoneAt)}${by(undoneBy)}`;
  if (committedAt === undefined) return `open since ${describeMoment(openedAt)}`;
  const door = approvedVia === undefined ? '' : ` via ${approvedVia}`;
  const approval = approvedBy === undefined ? 'nobody was asked' : showText(`approved by ${approvedBy}${door}`);
  return `${state} ${describeMoment(committedAt)}, ${approval}`;
}

function dotOf({ state }: ChangesetView): string {
  if (state === 'committed') return 'is-running';
  if (state === 'undone') return 'is-stopped';
  return state === 'open' ? 'is-waiting' : 'is-failed';
}

/** Shows the latest changes of the swarm, part by part, and the refused changes with their reasons (L-05). */
import type { ChangeReport } from '@goondan/cli/studio';
import { Problem } from '../problems/problem.tsx';
import { describeMoment } from '../time/describe-time.ts';

export function SwarmChanges({ changes }: { readonly changes: readonly ChangeReport[] }) {
  if (changes.length === 0) return null;
  return (
    <section>
      <h2>Changes</h2>
      <ul className="plain-list changes">
        {changes.map((change) => (
          <li key={`${change.at} ${change.message}`}>
            <span className={`dot ${change.error === undefined ? 'is-running' : 'is-failed'}`} aria-hidden="true" />
            <Change change={change} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Change({ change: { at, message, agents = [], error } }: { readonly change: ChangeReport }) {
  if (error !== undefined) {
    return (
      <div>
        Refused <span className="quiet">{describeMoment(at)}</span> Nothing was changed.
        <Problem error={error} isPast />
      </div>
    );
  }
  return (
    <div>
      {message} <span className="quiet">{describeMoment(at)}</span>
      {agents.map(({ agent, parts, reordered, replaced, renewed = [], leaving = [], removed, finishing }) => (
        <details key={agent}>
          <summary>{agent}</summary>
          <ul className="plain-list">
            {parts.map(({ identity, fate }) => (
              <li key={identity}>
                <span className="quiet">{fate}</span> {identity}
              </li>
            ))}
          </ul>
          {reordered === true && <p>The order of its parts has changed.</p>}
          {removed === true && <p>Removed. Ends after its running turn: {finishing.join(', ')}.</p>}
          {replaced !== undefined && (
            <p>Its processes are replaced between turns: {replaced}. The memory of all its parts begins anew.</p>
          )}
          {renewed.length > 0 && (
            <p>Replaced between turns, because the process was changed often: {renewed.join(', ')}.</p>
          )}
          {leaving.length > 0 && <p>Its process already ends after the running turn: {leaving.join(', ')}.</p>}
        </details>
      ))}
    </div>
  );
}

import type { WorkspaceView } from '@goondan/cli/studio';
import { writeRoute } from '../route/route.ts';

/** The maximum number of broken conversations in this section. The sidebar lists all of them, with a red mark. */
const MOST_SHOWN = 10;

/** Conversations whose agent does not start, or that cannot be read, with the reason. */
export function BrokenConversations({ view: { workspaceId, conversations } }: { readonly view: WorkspaceView }) {
  const broken = conversations.filter(({ problem }) => problem !== undefined);
  if (broken.length === 0) return null;
  return (
    <section>
      <h2>Problems</h2>
      <ul className="plain-list">
        {broken.slice(0, MOST_SHOWN).map(({ agent, instanceKey, problem }) => (
          <li key={`${agent} ${instanceKey}`}>
            <span className="dot is-failed" aria-hidden="true" />
            <span>
              <a href={writeRoute({ workspaceId, agent, instanceKey })}>
                {agent} {instanceKey}
              </a>{' '}
              <span className="bad">{problem}</span>
            </span>
          </li>
        ))}
      </ul>
      {broken.length > MOST_SHOWN && <p className="quiet">and {broken.length - MOST_SHOWN} more</p>}
    </section>
  );
}

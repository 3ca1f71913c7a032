import type { InstanceAddress, InstanceView, WorkspaceView } from '@goondan/cli/studio';
import { useEffect, useRef } from 'react';
import { liveKey, type LiveTurns } from '../live/live-turns.ts';
import { writeRoute } from '../route/route.ts';
import { describeAge } from '../time/describe-time.ts';
import { groupByAgent } from './group-by-agent.ts';

/**
 * The maximum number of conversations shown for each agent. Older conversations can still be opened by their address.
 */
const MOST_SHOWN = 200;

export function ConversationList({
  view,
  shown,
  live,
}: {
  readonly view: WorkspaceView;
  readonly shown: InstanceAddress | undefined;
  readonly live: LiveTurns;
}) {
  const groups = groupByAgent(view);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [shown?.agent, shown?.instanceKey]);
  if (groups.length === 0) return <p className="quiet sidebar-note">No conversations yet.</p>;
  return (
    <div className="conversations" ref={list}>
      {groups.map(([agent, conversations]) => (
        <section key={agent}>
          <h2>{agent}</h2>
          {conversations.slice(0, MOST_SHOWN).map((conversation) => {
            const { instanceKey, updatedAt, problem } = conversation;
            const isShown = shown?.agent === agent && shown.instanceKey === instanceKey;
            const waiting = view.questions.filter(
              (each) => each.agent === agent && each.instanceKey === instanceKey,
            ).length;
            return (
              <a
                key={instanceKey}
                className={isShown ? 'line sidebar-item is-shown' : 'line sidebar-item'}
                href={writeRoute({ workspaceId: view.workspaceId, agent, instanceKey })}
                aria-current={isShown ? 'page' : undefined}
                title={problem ?? `${agent} ${instanceKey}: ${describeStatus(conversation)}`}
              >
                <span className={`dot ${dotOf(conversation, live, waiting)}`} aria-hidden="true" />
                <span className="sidebar-key cut">{instanceKey}</span>
                {waiting > 0 ? (
                  <span className="badge">{waiting} waiting</span>
                ) : (
                  updatedAt !== null && <span className="quiet">{describeAge(updatedAt)}</span>
                )}
              </a>
            );
          })}
          {conversations.length > MOST_SHOWN && (
            <p className="quiet sidebar-note">and {conversations.length - MOST_SHOWN} older ones</p>
          )}
        </section>
      ))}
    </div>
  );
}

export function describeStatus({ status, queued, crashes }: InstanceView): string {
  const inputs = queued > 1 ? `, ${queued} inputs in line` : '';
  return `${status}${inputs}${crashes > 0 ? `, crashed ${crashes} times` : ''}`;
}

function dotOf(
  { agent, instanceKey, problem, crashes, status }: InstanceView,
  live: LiveTurns,
  waiting: number,
): string {
  if (problem !== undefined || crashes > 0) return 'is-broken';
  if (waiting > 0) return 'is-waiting';
  if (live[liveKey(agent, instanceKey)] !== undefined || status === 'working') return 'is-working';
  return status === 'asleep' || status === 'stopped' ? 'is-stopped' : 'is-running';
}

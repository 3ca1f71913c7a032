import type { InstanceAddress, InstanceView, WorkspaceView } from '@goondan/cli/studio';
import { useEffect, useRef } from 'react';
import { liveKey, type LiveTurn, type LiveTurns } from '../live/live-turns.ts';
import { type Show, writeRoute } from '../route/route.ts';
import { Clock } from '../time/clock.tsx';
import { describeAge } from '../time/describe-time.ts';
import { groupByAgent, hasFailed } from './group-by-agent.ts';

/**
 * The maximum number of conversations shown for each agent. Older conversations can still be opened by their address.
 */
const MOST_SHOWN = 200;

export function ConversationList({
  view,
  shown,
  live,
  onlyFailed,
  show,
}: {
  readonly view: WorkspaceView;
  readonly shown: InstanceAddress | undefined;
  readonly live: LiveTurns;
  readonly onlyFailed: boolean;
  readonly show: Show;
}) {
  const groups = groupByAgent(view, onlyFailed);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [shown?.agent, shown?.instanceKey]);
  const failures = view.conversations.filter(hasFailed).length;
  return (
    <div className="conversations" ref={list}>
      {(failures > 0 || onlyFailed) && (
        <button
          type="button"
          className="only-failed"
          aria-pressed={onlyFailed}
          title="Only conversations whose last turn failed"
          onClick={() => show({ failed: onlyFailed ? undefined : true }, true)}
        >
          <span className="dot is-failed" aria-hidden="true" /> {failures} failed
        </button>
      )}
      {groups.length === 0 && (
        <p className="quiet sidebar-note">{onlyFailed ? 'None has failed.' : 'No conversations yet.'}</p>
      )}
      {groups.map(([agent, conversations]) => {
        // Its name says nothing where it is the only one.
        const isOnlyDefault = conversations.length === 1 && conversations[0]?.instanceKey === 'default';
        return (
          <section key={agent}>
            {!isOnlyDefault && <h2>{agent}</h2>}
            {conversations.slice(0, MOST_SHOWN).map((conversation) => {
              const { instanceKey } = conversation;
              return (
                <ConversationLink
                  key={instanceKey}
                  name={isOnlyDefault ? agent : instanceKey}
                  conversation={conversation}
                  href={writeRoute({
                    workspaceId: view.workspaceId,
                    agent,
                    instanceKey,
                    ...(onlyFailed && { failed: true }),
                  })}
                  isShown={shown?.agent === agent && shown.instanceKey === instanceKey}
                  live={live[liveKey(agent, instanceKey)]}
                  waiting={
                    view.questions.filter((each) => each.agent === agent && each.instanceKey === instanceKey).length
                  }
                />
              );
            })}
            {conversations.length > MOST_SHOWN && (
              <p className="quiet sidebar-note">and {conversations.length - MOST_SHOWN} older ones</p>
            )}
          </section>
        );
      })}
    </div>
  );
}

interface ConversationLinkProps {
  readonly name: string;
  readonly conversation: InstanceView;
  readonly href: string;
  readonly isShown: boolean;
  readonly live: LiveTurn | undefined;
  /** The number of questions that wait for a person. */
  readonly waiting: number;
}

function ConversationLink({ name, conversation, href, isShown, live, waiting }: ConversationLinkProps) {
  const { agent, instanceKey, updatedAt, problem } = conversation;
  return (
    <a
      className={isShown ? 'line sidebar-item is-shown' : 'line sidebar-item'}
      href={href}
      aria-current={isShown ? 'page' : undefined}
      title={problem ?? `${agent} ${instanceKey}: ${describeStatus(conversation)}`}
    >
      <span className={`dot ${dotOf(conversation, live, waiting)}`} aria-hidden="true" />
      <span className="sidebar-key cut">{name}</span>
      {hasFailed(conversation) && <span className="unseen">failed</span>}
      {waiting > 0 && <span className="badge">{waiting} waiting</span>}
      {waiting === 0 && live !== undefined && (
        <span className="quiet">
          <Clock since={live.startedAt} />
        </span>
      )}
      {waiting === 0 && live === undefined && updatedAt !== null && (
        <span className="quiet">{describeAge(updatedAt)}</span>
      )}
    </a>
  );
}

export function describeStatus({ status, queued, crashes, failed }: InstanceView): string {
  const inputs = queued > 1 ? `, ${queued} inputs in line` : '';
  const ending = failed === true ? ', last turn failed' : '';
  return `${status}${inputs}${crashes > 0 ? `, crashed ${crashes} times` : ''}${ending}`;
}

function dotOf(conversation: InstanceView, live: LiveTurn | undefined, waiting: number): string {
  const { problem, crashes, status } = conversation;
  if (problem !== undefined || crashes > 0) return 'is-failed';
  if (waiting > 0 || live?.limit !== undefined) return 'is-waiting';
  if (live !== undefined || status === 'working') return 'is-working';
  if (hasFailed(conversation)) return 'is-failed';
  return status === 'asleep' || status === 'stopped' ? 'is-stopped' : 'is-running';
}

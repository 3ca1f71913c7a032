/** Lists the events around a moment: every change of the conversation, with its author and effect. */
import type { HistoryView, InstanceAddress } from '@goondan/cli/studio';
import { useEffect, useRef } from 'react';
import { describeAuthor } from '../conversation/describe-author.ts';
import type { Show } from '../route/route.ts';
import { Problem } from '../problems/problem.tsx';
import { addressOf } from '../server/ask-server.ts';
import { useQuery } from '../server/use-query.ts';
import { describeMoment } from '../time/describe-time.ts';
import { describeEvent } from './describe-event.ts';

export interface EventListProps {
  readonly workspaceId: string;
  readonly shown: InstanceAddress;
  readonly at: number | undefined;
  /** A text that changes while the turn runs and when it is committed, so that the events are read again. */
  readonly version: string;
  readonly show: Show;
}

const PAGE = 100;

export function EventList({ workspaceId, shown: { agent, instanceKey }, at, version, show }: EventListProps) {
  // Pages begin at fixed positions, so that moving the slider by one step does not load another page.
  const before = at === undefined ? undefined : (Math.floor(at / PAGE) + 1) * PAGE + PAGE / 2;
  const address = addressOf(workspaceId, 'history', { agent, instanceKey, before, limit: 2 * PAGE });
  const { value, error } = useQuery<HistoryView>(address, version);
  const chosen = useRef<HTMLLIElement>(null);
  useEffect(() => {
    chosen.current?.scrollIntoView({ block: 'nearest' });
  }, [at, value]);

  if (error !== undefined && value === undefined) return <Problem error={error} />;
  return (
    <ol className="events">
      {value?.turns.map((turn) => (
        <li key={`${turn.turnId} ${turn.version}`} className="event-turn">
          <button type="button" className="link" onClick={() => show({ turn: turn.turnId })}>
            {typeof turn.result === 'string' ? turn.result : describeMoment(turn.committedAt)}
          </button>
          <ol>
            {turn.events.map((event) => (
              <li
                key={event.seq}
                ref={event.seq === at ? chosen : null}
                className={event.seq === at ? 'is-chosen' : ''}
              >
                <button
                  type="button"
                  className="line event"
                  aria-current={event.seq === at ? 'true' : undefined}
                  onClick={() => show({ at: event.seq }, true)}
                >
                  <span className="event-seq">#{event.seq}</span>
                  <span className={`event-author cut by-${event.author.kind}`}>{describeAuthor(event.author)}</span>
                  <span className="event-says cut">{describeEvent(event)}</span>
                </button>
              </li>
            ))}
          </ol>
        </li>
      ))}
    </ol>
  );
}

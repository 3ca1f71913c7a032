/** Shows the timeline of a conversation, and a slider that selects a moment. */
import type { TimelineView } from '@goondan/cli/studio';
import { useEffect, useState } from 'react';
import type { Show } from '../route/route.ts';
import { describeMoment } from '../time/describe-time.ts';
import { Legend } from './legend.tsx';
import { Tape } from './tape.tsx';
import { turnAt } from './turn-at.ts';

interface TimelineProps {
  readonly timeline: TimelineView;
  /** The selected event; the newest event when absent. */
  readonly at: number | undefined;
  readonly openTurn: string | undefined;
  readonly show: Show;
}

/** How long the slider must rest before the moment is loaded. */
const REST_MS = 80;

export function Timeline({ timeline, at, openTurn, show }: TimelineProps) {
  const { first, last } = timeline;
  const shown = at ?? last;
  const [pulled, setPulled] = useState<number>();
  const value = pulled ?? shown;

  useEffect(() => {
    if (pulled === undefined) return;
    const timer = setTimeout(() => {
      show({ at: pulled >= last ? undefined : pulled }, true);
      setPulled(undefined);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [pulled, last, show]);

  const step = (by: number) => setPulled(Math.min(last, Math.max(first - 1, value + by)));
  const turn = turnAt(timeline, value);
  return (
    <section className={at === undefined ? 'timeline' : 'timeline is-past'} aria-label="Timeline">
      <button
        type="button"
        className="plain step-back"
        title="One event back ([)"
        aria-label="One event back"
        aria-disabled={value < first}
        onClick={() => step(-1)}
      >
        ‹
      </button>
      <div className="tape-box">
        <Tape timeline={timeline} value={value} openTurn={openTurn} />
        <input
          type="range"
          min={first - 1}
          max={last}
          value={value}
          aria-label="The conversation after event"
          aria-valuetext={value >= last ? 'now' : `after event ${value} of ${last}`}
          onChange={({ target }) => setPulled(Number(target.value))}
        />
      </div>
      <button
        type="button"
        className="plain step-on"
        title="One event on (])"
        aria-label="One event on"
        aria-disabled={value >= last}
        onClick={() => step(1)}
      >
        ›
      </button>
      <p className="timeline-says">
        {at === undefined && value >= last ? (
          <>
            <span className="quiet">
              now · {last} event{last === 1 ? '' : 's'}
            </span>
            <Legend authors={timeline.authors} />
          </>
        ) : (
          <>
            <span>
              after #{value} of {last}
              {turn !== undefined && ` · ${describeMoment(turn.committedAt)}`}
            </span>
            <button type="button" className="link" onClick={() => show({ at: undefined })}>
              back to now
            </button>
          </>
        )}
      </p>
    </section>
  );
}

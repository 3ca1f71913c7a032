import type { TimelineTurn, TurnList } from '@goondan/cli/studio';
import { memo } from 'react';
import { Problem } from '../problems/problem.tsx';
import { describeDuration, describeMoment } from '../time/describe-time.ts';
import { counted } from '../text/counted.ts';
import { describeUsage } from '../text/describe-usage.ts';
import type { TurnGroup } from './group-by-turn.ts';
import { MessageCard } from './message-card.tsx';
import type { Outcomes } from './message-parts.ts';
import type { Show } from '../route/route.ts';

interface TurnBlockProps {
  readonly agent: string;
  readonly group: TurnGroup;
  /** The recorded summary of the turn; absent when none is kept. */
  readonly summary: TurnList['turns'][number] | undefined;
  readonly result: TimelineTurn | undefined;
  readonly outcomes: Outcomes;
  readonly calls: ReadonlySet<string>;
  readonly isOpen: boolean;
  readonly show: Show;
}

export const TurnBlock = memo(function TurnBlock(props: TurnBlockProps) {
  const { agent, group, summary, result, outcomes, calls, isOpen, show } = props;
  const { turnId, messages } = group;
  return (
    <section className={isOpen ? 'turn is-open' : 'turn'} role="group" aria-label={`Turn of ${startOf(messages)}`}>
      <header className="turn-head">
        <span className="quiet">
          {[
            startOf(messages),
            ...(summary?.stepCount === undefined ? [] : [counted(summary.stepCount, 'step')]),
            ...(summary?.durationMs === undefined ? [] : [describeDuration(summary.durationMs)]),
            ...describeUsage(summary ?? {}),
          ].join(' · ')}
        </span>
        {summary !== undefined && (
          <button
            type="button"
            className="turn-onion"
            aria-pressed={isOpen}
            data-turn={turnId}
            title="Every layer this turn went through"
            onClick={() => show({ turn: isOpen ? undefined : turnId })}
          >
            Onion
          </button>
        )}
      </header>
      {result?.error !== undefined && (
        <TurnFailure result={result.result} error={result.error} stack={summary?.stack} />
      )}
      {messages.map((message) => (
        <MessageCard
          key={message.message.id}
          agent={agent}
          shown={message}
          outcomes={outcomes}
          calls={calls}
          show={show}
        />
      ))}
    </section>
  );
});

function startOf([first]: TurnGroup['messages']): string {
  return first === undefined ? '' : describeMoment(first.at);
}

/** Shows why a turn failed. A cancel is deliberate, so it is not shown as a problem. */
function TurnFailure({
  result,
  error,
  stack,
}: Required<Pick<TimelineTurn, 'result' | 'error'>> & { readonly stack: string | undefined }) {
  if (result === 'cancelled') return <p className="quiet">{error.message}</p>;
  return <Problem error={error} stack={stack} isPast />;
}

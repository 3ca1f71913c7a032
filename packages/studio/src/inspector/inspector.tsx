/** One turn from the outside in, or the events around a moment. */
import type { TraceView } from '@goondan/cli/studio';
import { useState } from 'react';
import type { Show, ShownConversation } from '../conversation/shown-conversation.ts';
import { Onion } from '../onion/onion.tsx';
import { Problem } from '../problems/problem.tsx';
import { addressOf } from '../server/ask-server.ts';
import { useAnswer } from '../server/use-answer.ts';
import { describeDuration } from '../time/describe-time.ts';
import { EventList } from './event-list.tsx';

interface InspectorProps {
  readonly workspaceId: string;
  readonly shown: ShownConversation;
  readonly turn: string;
  readonly at: number | undefined;
  /** Grows while the turn runs. */
  readonly version: number;
  readonly show: Show;
}

export function Inspector({ workspaceId, shown, turn, at, version, show }: InspectorProps) {
  const [tab, setTab] = useState<'onion' | 'events'>('onion');
  const trace = useAnswer<TraceView>(addressOf(workspaceId, 'trace', { id: turn }), version);
  const current = trace.value?.turns.find(({ turnId }) => turnId === turn) ?? trace.value?.turns[0];
  return (
    <aside className="inspector" aria-label="The turn that is looked into">
      <header className="inspector-head">
        <div role="tablist" className="tabs">
          {(['onion', 'events'] as const).map((name) => (
            <button key={name} type="button" role="tab" aria-selected={tab === name} onClick={() => setTab(name)}>
              {name === 'onion' ? 'Onion' : 'Events'}
            </button>
          ))}
        </div>
        <span className="quiet inspector-says">
          {current?.durationMs !== undefined && describeDuration(current.durationMs)}
          {current?.input !== undefined && ` · “${current.input}”`}
        </span>
        <button type="button" className="plain" title="Close (Esc)" onClick={() => show({ turn: undefined })}>
          ✕
        </button>
      </header>
      {tab === 'onion' && trace.error !== undefined && current === undefined && <Problem error={trace.error} />}
      {tab === 'onion' && current !== undefined && <Onion key={turn} turn={current} />}
      {tab === 'events' && <EventList workspaceId={workspaceId} shown={shown} at={at} version={version} show={show} />}
    </aside>
  );
}

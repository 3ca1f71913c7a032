/** Shows one turn as an onion, or the events around a moment. */
import type { TraceView } from '@goondan/cli/studio';
import { useEffect, useState } from 'react';
import { isTyping } from '../keyboard/use-shortcuts.ts';
import { useBorrowedFocus } from '../keyboard/use-borrowed-focus.ts';
import { Onion } from '../onion/onion.tsx';
import { ExtensionStates } from '../overview/extension-states.tsx';
import { Problem } from '../problems/problem.tsx';
import { addressOf } from '../server/ask-server.ts';
import { useQuery } from '../server/use-query.ts';
import { useRecorded } from '../server/use-recorded.ts';
import { Skeleton } from '../text/skeleton.tsx';
import { describeDuration } from '../time/describe-time.ts';
import { EventList, type EventListProps } from './event-list.tsx';
import { Tabs } from './tabs.tsx';

export function Inspector({
  turn,
  isWorking,
  ...rest
}: EventListProps & {
  readonly turn: string;
  /** True while the conversation runs a turn. */
  readonly isWorking: boolean;
}) {
  const { workspaceId, version, show } = rest;
  const [tab, setTab] = useState<'onion' | 'events'>('onion');
  const box = useBorrowedFocus<HTMLElement>(`.turn-onion[data-turn="${CSS.escape(turn)}"]`);
  const address = addressOf(workspaceId, 'trace', { id: turn });
  const trace = useQuery<TraceView>(address, useRecorded(version));
  const traced = trace.address === address ? (trace.value?.turns ?? []) : [];
  const current = traced.find(({ turnId }) => turnId === turn) ?? traced[0];
  const isThere = current !== undefined;
  useEffect(() => {
    // Focuses the onion once it is loaded, so that the arrow keys work.
    const first = box.current?.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]');
    if (isThere && !isTyping(document.activeElement)) first?.focus();
  }, [box, turn, isThere]);
  return (
    <aside className="inspector" aria-label="The inspected turn" ref={box}>
      <header className="inspector-head">
        <Tabs names={tabNames} chosen={tab} choose={setTab} />
        <span className="quiet inspector-says cut">
          {[
            ...(current === undefined ? [] : [`turn ${current.shortId}`]),
            ...(current?.durationMs === undefined ? [] : [describeDuration(current.durationMs)]),
            ...(current?.input === undefined ? [] : [`“${current.input}”`]),
          ].join(' · ')}
        </span>
        <button
          type="button"
          className="plain"
          title="Close (Esc)"
          aria-label="Close"
          onClick={() => show({ turn: undefined })}
        >
          ✕
        </button>
      </header>
      <div className="tab-panel" role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`}>
        {tab === 'onion' && trace.error === undefined && current === undefined && <Skeleton lines={8} />}
        {tab === 'onion' && trace.error !== undefined && current === undefined && <Problem error={trace.error} />}
        {tab === 'onion' && current?.ending === 'failed' && current.error !== undefined && (
          <Problem error={{ message: current.error, place: current.place }} isPast />
        )}
        {tab === 'onion' && current?.extensions !== undefined && <ExtensionStates statuses={current.extensions} />}
        {tab === 'onion' && current !== undefined && (
          <Onion key={turn} workspaceId={workspaceId} turn={current} isLive={isWorking} />
        )}
        {tab === 'events' && <EventList {...rest} />}
      </div>
    </aside>
  );
}

const tabNames = { onion: 'Onion', events: 'Events' } as const;

/** One conversation: as it is while it goes on, or as it was at a moment of its life. */
import type { ConversationView, TimelineView, TurnList, WorkspaceView } from '@goondan/cli/studio';
import { useMemo, useState } from 'react';
import { ApprovalCard } from '../approvals/approval-card.tsx';
import type { LiveTurn } from '../live/live-turns.ts';
import { DeadLetters } from '../problems/dead-letters.tsx';
import { Problem } from '../problems/problem.tsx';
import { addressOf } from '../server/ask-server.ts';
import { useAnswer } from '../server/use-answer.ts';
import { Timeline } from '../timeline/timeline.tsx';
import { Composer } from './composer.tsx';
import { ConversationHead } from './conversation-head.tsx';
import { groupByTurn } from './group-by-turn.ts';
import { LiveTurnBlock } from './live-turn-block.tsx';
import { PendingInputs } from './pending-inputs.tsx';
import { isTold, type SentInput } from './sent-inputs.ts';
import { callsIn, outcomesOf } from './message-parts.ts';
import type { Show, ShownConversation } from './shown-conversation.ts';
import { TurnBlock } from './turn-block.tsx';
import { useStickToEnd } from './use-stick-to-end.ts';

interface ConversationProps {
  readonly view: WorkspaceView;
  readonly shown: ShownConversation;
  readonly at: number | undefined;
  /** Whose onion is open. */
  readonly openTurn: string | undefined;
  readonly live: LiveTurn | undefined;
  /** Grows with every turn that was committed. */
  readonly version: number;
  readonly show: Show;
}

const FIRST_PAGE = 200;
const MOST_MESSAGES = 1000;

export function Conversation({ view, shown, at, openTurn, live, version, show }: ConversationProps) {
  const { workspaceId } = view;
  const { agent, key } = shown;
  const isKnown = view.conversations.some((each) => each.agent === agent && each.key === key);
  const [last, setLast] = useState(FIRST_PAGE);
  const [sent, setSent] = useState<readonly SentInput[]>([]);
  const ask = (what: string, query = {}) =>
    isKnown ? addressOf(workspaceId, what, { agent, key, ...query }) : undefined;
  const conversation = useAnswer<ConversationView>(ask('conversation', { at, last }), version);
  const timeline = useAnswer<TimelineView>(ask('timeline'), version);
  const turns = useAnswer<TurnList>(ask('turns', { last: 200 }), version);

  const messages = conversation.value?.messages ?? [];
  const groups = useMemo(() => groupByTurn(messages), [messages]);
  const outcomes = useMemo(() => outcomesOf(messages), [messages]);
  const calls = useMemo(() => callsIn(messages), [messages]);
  const isNow = at === undefined;
  const approvals = view.approvals.filter((each) => each.agent === agent && each.instanceKey === key);
  const deadLetters = view.deadLetters.filter((each) => each.agent === agent && each.instanceKey === key);
  const end = useStickToEnd([messages, live, approvals.length], isNow);
  const earlier = conversation.value?.earlier ?? 0;

  return (
    <main className="middle">
      <ConversationHead view={view} shown={shown} live={live} />
      {timeline.value !== undefined && timeline.value.last > 0 && (
        <Timeline timeline={timeline.value} at={at} show={show} openTurn={openTurn} />
      )}
      <div className="messages" ref={end} aria-live={isNow ? 'polite' : 'off'}>
        {earlier > 0 && (
          <p className="quiet earlier">
            {earlier} earlier messages{' '}
            {last < MOST_MESSAGES && (
              <button type="button" className="link" onClick={() => setLast(MOST_MESSAGES)}>
                show more
              </button>
            )}
          </p>
        )}
        {conversation.error !== undefined && <Problem error={conversation.error} />}
        {groups.map((group) => (
          <TurnBlock
            key={`${group.turnId} ${group.messages[0]?.seq}`}
            agent={agent}
            group={group}
            summary={turns.value?.turns.find(({ turnId }) => turnId === group.turnId)}
            result={timeline.value?.turns.findLast(({ turnId }) => turnId === group.turnId)}
            outcomes={outcomes}
            calls={calls}
            isOpen={group.turnId === openTurn}
            show={show}
          />
        ))}
        {isNow && <PendingInputs inputs={sent.filter((input) => !isTold(input, timeline.value))} />}
        {isNow && live !== undefined && <LiveTurnBlock live={live} workspaceId={workspaceId} show={show} />}
        {isNow &&
          approvals.map((approval) => <ApprovalCard key={approval.id} approval={approval} workspaceId={workspaceId} />)}
        {isNow && <DeadLetters letters={deadLetters} workspaceId={workspaceId} />}
        {isNow &&
          groups.length + sent.length === 0 &&
          live === undefined &&
          (conversation.value !== undefined || !isKnown) && (
            <p className="quiet centred-note">Nothing has been said here yet.</p>
          )}
      </div>
      <Composer
        view={view}
        shown={shown}
        isNow={isNow}
        show={show}
        onSent={(input) => setSent((inputs) => [...inputs.filter((each) => !isTold(each, timeline.value)), input])}
      />
    </main>
  );
}

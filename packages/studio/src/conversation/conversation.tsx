/** One conversation: as it is while it goes on, or as it was at a moment of its life. */
import type { ConversationView, TimelineView, TurnList, WorkspaceView } from '@goondan/cli/studio';
import { useCallback, useMemo, useState } from 'react';
import { ApprovalCard } from '../approvals/approval-card.tsx';
import { liveKey, type LiveTurn } from '../live/live-turns.ts';
import { DeadLetters } from '../problems/dead-letters.tsx';
import { Problem } from '../problems/problem.tsx';
import { addressOf } from '../server/ask-server.ts';
import { useAnswer } from '../server/use-answer.ts';
import { useRecorded } from '../server/use-recorded.ts';
import { Timeline } from '../timeline/timeline.tsx';
import { Announcement } from './announcement.tsx';
import { Composer } from './composer.tsx';
import { ConversationHead } from './conversation-head.tsx';
import { groupByTurn } from './group-by-turn.ts';
import { LiveTurnBlock } from './live-turn-block.tsx';
import { PendingInputs } from './pending-inputs.tsx';
import { pendingInputs, type SentInput } from './sent-inputs.ts';
import { callsIn, outcomesOf } from './message-parts.ts';
import type { Show, ShownConversation } from './shown-conversation.ts';
import { TurnBlock } from './turn-block.tsx';
import { useLiveTurn } from './use-live-turn.ts';
import { useStickToEnd } from './use-stick-to-end.ts';
import { useWhenMissed } from './use-when-missed.ts';

interface ConversationProps {
  readonly view: WorkspaceView;
  readonly shown: ShownConversation;
  readonly at: number | undefined;
  /** Whose onion is open. */
  readonly openTurn: string | undefined;
  readonly live: LiveTurn | undefined;
  /** Another one with every turn that was committed. */
  readonly version: number;
  /** At the workspace: something was done to it. */
  readonly lookAgain: () => void;
  readonly show: Show;
}

const FIRST_PAGE = 200;
const MOST_MESSAGES = 1000;

export function Conversation({
  view,
  shown,
  at,
  openTurn,
  live: heard,
  version: commits,
  lookAgain,
  show,
}: ConversationProps) {
  const { workspaceId } = view;
  const { agent, key } = shown;
  const instance = view.conversations.find((each) => each.agent === agent && each.key === key);
  const isKnown = instance !== undefined;
  const [last, setLast] = useState(FIRST_PAGE);
  const [sent, setSent] = useState<readonly SentInput[]>([]);
  const ask = (what: string, query = {}) =>
    isKnown ? addressOf(workspaceId, what, { agent, key, ...query }) : undefined;
  const [missed, setMissed] = useState(0);
  const version = `${commits} ${missed}`;
  const conversation = useAnswer<ConversationView>(ask('conversation', { at, last }), version);
  const timeline = useAnswer<TimelineView>(ask('timeline'), version);
  const live = useLiveTurn(heard, conversation.version === version);
  // What somebody else asked is in no message yet, but recorded.
  const isOthers = live !== undefined && !sent.some(({ turnId }) => turnId === live.turnId);
  const recorded = useRecorded(`${version} ${isOthers ? live.turnId : ''}`);
  const turns = useAnswer<TurnList>(ask('turns', { last: 200 }), recorded);

  const messages = conversation.value?.messages ?? nothing;
  const groups = useMemo(() => groupByTurn(messages), [messages]);
  const outcomes = useMemo(() => outcomesOf(messages), [messages]);
  const calls = useMemo(() => callsIn(messages), [messages]);
  const summaries = useMemo(() => byTurn(turns.value?.turns), [turns.value]);
  const results = useMemo(() => byTurn(timeline.value?.turns), [timeline.value]);
  // Whichever of the two is read first.
  const told = useMemo(() => new Set([...results.keys(), ...groups.map(({ turnId }) => turnId)]), [results, groups]);
  const running = live && { ...unfinished(turns.value, told), ...live };
  const untold = pendingInputs(sent, told, view.deadLetters);
  // For good: a turn that is deleted later is not about to be answered.
  if (untold.length < sent.length) setSent(untold);
  const pending = pendingInputs(untold, told, view.deadLetters, running && summaries.get(running.turnId ?? ''));

  const isNow = at === undefined;
  const read = isNow && conversation.value ? conversation.value.earlier + messages.length : undefined;
  useWhenMissed(
    instance?.messages,
    read,
    useCallback(() => setMissed((count) => count + 1), []),
  );
  const approvals = view.approvals.filter(
    (each) => (each.agent === agent && each.instanceKey === key) || each.traceId === running?.traceId,
  );
  const deadLetters = view.deadLetters.filter((each) => each.agent === agent && each.instanceKey === key);
  const { box, content } = useStickToEnd(isNow);
  const earlier = conversation.value?.earlier ?? 0;
  const isEmpty = groups.length + pending.length === 0 && running === undefined;

  return (
    <main className="middle">
      <ConversationHead view={view} shown={shown} isWorking={running !== undefined} />
      {timeline.value !== undefined && timeline.value.last > 0 && (
        <Timeline timeline={timeline.value} at={at} show={show} openTurn={openTurn} />
      )}
      <div className="messages" ref={box}>
        <div ref={content}>
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
              summary={summaries.get(group.turnId)}
              result={results.get(group.turnId)}
              outcomes={outcomes}
              calls={calls}
              isOpen={group.turnId === openTurn}
              show={show}
            />
          ))}
          {isNow && (
            <>
              <PendingInputs inputs={pending} />
              {running !== undefined && <LiveTurnBlock live={running} workspaceId={workspaceId} show={show} />}
              {approvals.map((approval) => (
                <ApprovalCard key={approval.id} approval={approval} workspaceId={workspaceId} />
              ))}
              <DeadLetters letters={deadLetters} workspaceId={workspaceId} lookAgain={lookAgain} />
              {isEmpty && (conversation.value !== undefined || !isKnown) && (
                <p className="quiet centred-note">Nothing has been said here yet.</p>
              )}
            </>
          )}
        </div>
      </div>
      <Announcement
        agent={agent}
        isWorking={running !== undefined}
        waiting={approvals[0]?.toolName}
        newest={messages.at(-1)}
      />
      <Composer
        key={`${workspaceId} ${liveKey(agent, key)}`}
        view={view}
        shown={shown}
        isNow={isNow}
        show={show}
        onSent={(input) => setSent((inputs) => [...inputs, input])}
      />
    </main>
  );
}

const nothing: ConversationView['messages'] = [];

/** The latest of each. */
function byTurn<Turn extends { readonly turnId: string }>(turns: readonly Turn[] = []): ReadonlyMap<string, Turn> {
  return new Map(turns.map((turn) => [turn.turnId, turn]));
}

/** What is recorded of the turn that runs: whoever came in the middle of it has not heard which one it is. */
function unfinished(list: TurnList | undefined, told: ReadonlySet<string>) {
  const turn = list?.turns.find(({ turnId, durationMs }) => durationMs === undefined && !told.has(turnId));
  return turn && { turnId: turn.turnId, traceId: turn.traceId };
}

/** Shows one conversation: live, or as it was at a past moment. */
import type { InstanceAddress, WorkspaceView } from '@goondan/cli/studio';
import { useState } from 'react';
import { describeWaiting, subjectOf } from '../questions/describe-question.ts';
import { GrantList } from '../questions/grant-list.tsx';
import { QuestionList } from '../questions/question-list.tsx';
import { liveKey, type LiveTurn } from '../live/live-turns.ts';
import { DeadLetters } from '../problems/dead-letters.tsx';
import { Problem } from '../problems/problem.tsx';
import { Skeleton } from '../text/skeleton.tsx';
import { counted } from '../text/counted.ts';
import { Timeline } from '../timeline/timeline.tsx';
import { Announcement } from './announcement.tsx';
import { FilePlace } from './attachment.tsx';
import { Composer } from './composer.tsx';
import { ConversationHead } from './conversation-head.tsx';
import { LiveTurnBlock } from './live-turn-block.tsx';
import { PendingInputs } from './pending-inputs.tsx';
import type { Show } from '../route/route.ts';
import { TurnBlock } from './turn-block.tsx';
import { useConversation } from './use-conversation.ts';
import { useStickToEnd } from './use-stick-to-end.ts';

interface ConversationProps {
  readonly view: WorkspaceView;
  readonly shown: InstanceAddress;
  readonly at: number | undefined;
  /** The id of the turn whose onion is open. */
  readonly openTurn: string | undefined;
  readonly live: LiveTurn | undefined;
  /** A number that changes with every committed turn. */
  readonly version: number;
  /** Reads the workspace again after a change. */
  readonly refetch: () => void;
  readonly show: Show;
}

const FIRST_PAGE = 200;
const MOST_MESSAGES = 1000;

export function Conversation({ view, shown, at, openTurn, live, version, refetch, show }: ConversationProps) {
  const { workspaceId } = view;
  const { agent, instanceKey } = shown;
  const [last, setLast] = useState(FIRST_PAGE);
  const talk = useConversation({ view, shown, at, heard: live, commits: version, last });
  const { running, questions, earlier } = talk;
  const isNow = at === undefined;
  const waitsFor = describeWaiting(questions, running);
  const { box, content } = useStickToEnd(at);
  const isHere = (each: InstanceAddress) => each.agent === agent && each.instanceKey === instanceKey;
  const deadLetters = view.deadLetters.filter(isHere);
  const grants = view.grants.filter(isHere);

  return (
    <FilePlace value={view.workspaceId}>
      <main className="middle">
        <ConversationHead view={view} shown={shown} isWorking={running !== undefined} waitsFor={waitsFor} />
        {talk.timeline !== undefined && talk.timeline.last > 0 && (
          <Timeline timeline={talk.timeline} at={at} show={show} openTurn={openTurn} />
        )}
        <GrantList grants={grants} workspaceId={workspaceId} refetch={refetch} />
        <div className="messages" ref={box}>
          <div ref={content}>
            {earlier > 0 && (
              <p className="quiet earlier">
                {counted(earlier, 'earlier message')}{' '}
                {last < MOST_MESSAGES && (
                  <button type="button" className="link" onClick={() => setLast(MOST_MESSAGES)}>
                    show more
                  </button>
                )}
              </p>
            )}
            {talk.isLoading && <Skeleton lines={8} />}
            {talk.error !== undefined && <Problem error={talk.error} />}
            {talk.groups.map((group) => (
              <TurnBlock
                key={`${group.turnId} ${group.messages[0]?.seq}`}
                agent={agent}
                group={group}
                summary={talk.summaries.get(group.turnId)}
                result={talk.results.get(group.turnId)}
                outcomes={talk.outcomes}
                calls={talk.calls}
                isOpen={group.turnId === openTurn}
                show={show}
              />
            ))}
            {isNow && (
              <>
                <PendingInputs inputs={talk.pending} />
                {running !== undefined && (
                  <LiveTurnBlock live={running} waitsFor={waitsFor} workspaceId={workspaceId} show={show} />
                )}
                <QuestionList
                  questions={questions}
                  workspaceId={workspaceId}
                  isRunning={view.isRunning}
                  refetch={refetch}
                />
                <DeadLetters letters={deadLetters} workspaceId={workspaceId} refetch={refetch} />
                {talk.isEmpty && (
                  <p className="quiet centred-note">
                    Nothing has been said here yet.
                    {view.isRunning && ` Write to ${agent} below.`}
                  </p>
                )}
              </>
            )}
          </div>
        </div>
        <Announcement
          agent={agent}
          isWorking={running !== undefined}
          waiting={questions[0] && subjectOf(questions[0])}
          newest={talk.messages.at(-1)}
        />
        <Composer
          key={`${workspaceId} ${liveKey(agent, instanceKey)}`}
          view={view}
          shown={shown}
          isNow={isNow}
          isWorking={running !== undefined}
          show={show}
          onSent={talk.noteSent}
        />
      </main>
    </FilePlace>
  );
}

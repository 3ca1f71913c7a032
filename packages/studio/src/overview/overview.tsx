/**
 * Shows an overview of a swarm: its agents and who may call whom, waiting questions, problems, and the latest turns.
 */
import type { TurnList, WorkspaceView } from '@goondan/cli/studio';
import { GrantList } from '../questions/grant-list.tsx';
import { QuestionList } from '../questions/question-list.tsx';
import { DeadLetters } from '../problems/dead-letters.tsx';
import { writeRoute } from '../route/route.ts';
import type { GoTo } from '../route/use-route.ts';
import { addressOf } from '../server/ask-server.ts';
import { useQuery } from '../server/use-query.ts';
import { Skeleton } from '../text/skeleton.tsx';
import { nameOf } from '../text/name-of.ts';
import { Clock } from '../time/clock.tsx';
import { describeAge, describeDuration, describeMoment } from '../time/describe-time.ts';
import { AgentGraph } from './agent-graph.tsx';
import { AgentTools } from './agent-tools.tsx';
import { BrokenConversations } from './broken-conversations.tsx';
import { Changesets } from './changesets.tsx';
import { ExtensionStates } from './extension-states.tsx';
import { KeptConnections } from './kept-connections.tsx';
import { SwarmChanges } from './swarm-changes.tsx';
import { Usage } from './usage.tsx';

interface OverviewProps {
  readonly view: WorkspaceView;
  readonly goTo: GoTo;
  readonly version: number;
  readonly refetch: () => void;
}

export function Overview({ view, goTo, version, refetch }: OverviewProps) {
  const { workspaceId, swarm, isRunning, startedAt, pid, startCommand } = view;
  const statuses = view.conversations.flatMap(({ extensions = [] }) => extensions);
  const turns = useQuery<TurnList>(addressOf(workspaceId, 'turns', { last: 30 }), version);
  return (
    <main className="middle overview">
      <header className="head">
        <div>
          <h1>{nameOf(workspaceId, swarm)}</h1>
          <p className="quiet">
            {isRunning
              ? `running${startedAt === undefined ? '' : ` since ${describeMoment(startedAt)}`}${pid === undefined ? '' : ` · process ${pid}`}`
              : 'not running'}
          </p>
        </div>
      </header>
      <div className="overview-body">
        {!isRunning && startCommand !== undefined && (
          <p className="note">
            Start it with <code>{startCommand}</code>, and this page comes alive.
          </p>
        )}
        <QuestionList questions={view.questions} workspaceId={workspaceId} isRunning={isRunning} refetch={refetch} />
        <DeadLetters letters={view.deadLetters} workspaceId={workspaceId} refetch={refetch} />
        <GrantList grants={view.grants} workspaceId={workspaceId} refetch={refetch} />
        <BrokenConversations view={view} />
        <SwarmChanges changes={view.changes ?? []} />
        <Changesets changesets={view.changesets ?? []} workspaceId={workspaceId} version={version} />
        {view.agents.length > 0 && (
          <section>
            <h2>Agents</h2>
            <AgentGraph
              view={view}
              open={(agent) => goTo({ workspaceId, agent, instanceKey: newestKey(view, agent) })}
            />
          </section>
        )}
        <AgentTools agents={view.agents} />
        {statuses.length > 0 && (
          <section>
            <h2>Servers</h2>
            <ExtensionStates statuses={statuses} />
          </section>
        )}
        <KeptConnections kept={view.kept ?? []} />
        {view.connections.length > 0 && (
          <section>
            <h2>Connections</h2>
            <ul className="plain-list">
              {view.connections.map(({ connection, status, problem }) => (
                <li key={connection}>
                  <span className={`dot ${dotOf(status, problem)}`} aria-hidden="true" />
                  <span>
                    {connection} <span className={problem === undefined ? 'quiet' : 'bad'}>{problem ?? status}</span>
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )}
        <Usage workspaceId={workspaceId} version={version} />
        <section>
          <h2>Latest turns</h2>
          {turns.value === undefined && <Skeleton />}
          {turns.value?.turns.length === 0 && <p className="quiet">{describeNone(view)}</p>}
          <table className="turns">
            <tbody>
              {turns.value?.turns.map((turn) => (
                <tr key={turn.turnId}>
                  <td className="quiet">{describeAge(turn.startedAt)}</td>
                  <td>{turn.agentName}</td>
                  <td className="quiet turn-id">{turn.shortId}</td>
                  <td className="turns-input">
                    <a
                      href={writeRoute({
                        workspaceId,
                        agent: turn.agentName,
                        instanceKey: turn.instanceKey,
                        turn: turn.turnId,
                      })}
                    >
                      {turn.input ?? turn.shortId}
                    </a>
                  </td>
                  <td className={turn.ending === 'failed' ? 'bad' : turn.truncated === true ? 'warning' : 'quiet'}>
                    {describeEnd(turn, view)}{' '}
                    {isRunning && turn.durationMs === undefined && <Clock since={turn.startedAt} />}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </main>
  );
}

/** Says how a turn ended. The next start continues a turn that a stopped swarm has left. */
function describeEnd(turn: TurnList['turns'][number], { isRunning, questions }: WorkspaceView): string {
  const { ending, truncated, durationMs, traceId } = turn;
  if (ending === 'failed' || ending === 'cancelled') return ending;
  if (durationMs === undefined) {
    if (!isRunning) return 'unfinished';
    return questions.some((question) => question.traceId === traceId) ? 'waiting' : 'running';
  }
  return truncated === true ? 'truncated' : describeDuration(durationMs);
}

/** Explains why no turns are shown. A conversation may have messages but no recorded turns. */
function describeNone({ conversations, isRunning }: WorkspaceView): string {
  if (conversations.some(({ messages }) => messages > 0)) return 'None is recorded.';
  return isRunning ? 'None yet. Open an agent, and write to it.' : 'None yet.';
}

function dotOf(status: WorkspaceView['connections'][number]['status'], problem: string | undefined): string {
  if (problem !== undefined) return 'is-failed';
  if (status === 'starting') return 'is-working';
  return status === 'listening' ? 'is-running' : status === 'waiting' ? 'is-waiting' : 'is-stopped';
}

function newestKey({ conversations }: WorkspaceView, agent: string): string {
  return conversations.find((each) => each.agent === agent)?.instanceKey ?? 'default';
}

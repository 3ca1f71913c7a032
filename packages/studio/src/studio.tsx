/** The whole page: a list on the left, a conversation in the middle, and the onion of one of its turns on the right. */
import type { InstanceAddress, WorkspaceList, WorkspaceView } from '@goondan/cli/studio';
import { useCallback, useEffect, useState } from 'react';
import { Conversation } from './conversation/conversation.tsx';
import { Inspector } from './inspector/inspector.tsx';
import { ShortcutsHelp } from './keyboard/shortcuts-help.tsx';
import { useShortcuts } from './keyboard/use-shortcuts.ts';
import { liveKey } from './live/live-turns.ts';
import { EmptyWorkspace } from './overview/empty-workspace.tsx';
import { Overview } from './overview/overview.tsx';
import { ConnectionNotice } from './problems/connection-notice.tsx';
import { Problem } from './problems/problem.tsx';
import { changeRoute, type Route, type RouteChange } from './route/route.ts';
import { useRoute } from './route/use-route.ts';
import { useWorkspaces } from './server/use-workspaces.ts';
import { useSwarm } from './server/use-swarm.ts';
import { groupByAgent } from './sidebar/group-by-agent.ts';
import { Sidebar } from './sidebar/sidebar.tsx';
import { Skeleton } from './text/skeleton.tsx';
import { useTitle } from './title/use-title.ts';
import { changeTheme } from './theme/theme.ts';

export function Studio() {
  const [route, goTo] = useRoute();
  const [helpIsOpen, setHelp] = useState(false);
  const list = useWorkspaces(route.workspaceId);
  const workspaceId = route.workspaceId ?? firstWorkspace(list.value);
  const swarm = useSwarm(workspaceId);
  const view = swarm.view.value?.workspaceId === workspaceId ? swarm.view.value : undefined;
  const shown = shownConversation(route, view);
  const { at, turn, failed } = route;
  const live = shown && swarm.live[liveKey(shown.agent, shown.instanceKey)];
  useTitle(shown, view);
  // If the address names no workspace, puts the chosen workspace into the address, so that it stays chosen when other
  // workspaces change.
  useEffect(() => {
    if (route.workspaceId === undefined && workspaceId !== undefined && shown !== undefined)
      goTo({ workspaceId, ...shown }, { replace: true });
  }, [route.workspaceId, workspaceId, shown, goTo]);

  const show = useCallback(
    (change: RouteChange, replace = false) => {
      goTo(
        changeRoute(
          {},
          { workspaceId, agent: shown?.agent, instanceKey: shown?.instanceKey, at, turn, failed, ...change },
        ),
        { replace },
      );
    },
    [goTo, workspaceId, shown?.agent, shown?.instanceKey, at, turn, failed],
  );
  useShortcuts({
    route,
    conversations: groupByAgent(view, failed).flatMap(([, conversations]) => conversations),
    questions: view?.questions ?? [],
    shown,
    show,
    toggleHelp: () => setHelp((isOpen) => !isOpen),
    changeTheme,
  });

  return (
    <div className={turn === undefined || shown === undefined ? 'studio' : 'studio with-inspector'}>
      <Sidebar
        list={list.value}
        workspaceId={workspaceId}
        view={view}
        shown={shown}
        live={swarm.live}
        onlyFailed={failed === true}
        show={show}
        goTo={goTo}
        openHelp={() => setHelp(true)}
      />
      <div className="stage">
        <ConnectionNotice
          streamProblem={swarm.streamProblem}
          error={view === undefined ? undefined : swarm.view.error}
        />
        {middle()}
      </div>
      {workspaceId !== undefined && shown !== undefined && turn !== undefined && (
        <Inspector
          workspaceId={workspaceId}
          shown={shown}
          turn={turn}
          at={at}
          version={`${swarm.versionOf(shown.agent, shown.instanceKey)} ${live === undefined ? '' : swarm.progress}`}
          isWorking={live !== undefined}
          show={show}
        />
      )}
      {helpIsOpen && <ShortcutsHelp close={() => setHelp(false)} />}
    </div>
  );

  function middle() {
    const error = list.error ?? swarm.view.error;
    if (error !== undefined && view === undefined) return <Problem error={error} isWhole />;
    if (workspaceId === undefined && list.value !== undefined) return <EmptyWorkspace />;
    if (view === undefined) {
      return (
        <main className="middle" aria-busy="true">
          <Skeleton lines={8} />
        </main>
      );
    }
    if (shown === undefined)
      return <Overview view={view} goTo={goTo} version={swarm.progress} refetch={swarm.refetch} />;
    return (
      <Conversation
        key={liveKey(shown.agent, shown.instanceKey)}
        view={view}
        shown={shown}
        at={at}
        openTurn={turn}
        live={live}
        version={swarm.versionOf(shown.agent, shown.instanceKey)}
        refetch={swarm.refetch}
        show={show}
      />
    );
  }
}

/** Returns the conversation in the address; if the address has none, the newest conversation of the entry agent. */
function shownConversation(route: Route, view: WorkspaceView | undefined): InstanceAddress | undefined {
  if (route.agent !== undefined && route.instanceKey !== undefined)
    return { agent: route.agent, instanceKey: route.instanceKey };
  if (route.workspaceId !== undefined || view === undefined) return undefined;
  const { conversations, entryAgent } = view;
  const newest = conversations.find(({ agent }) => agent === entryAgent) ?? conversations[0];
  if (newest !== undefined) return { agent: newest.agent, instanceKey: newest.instanceKey };
  return entryAgent === undefined ? undefined : { agent: entryAgent, instanceKey: 'default' };
}

function firstWorkspace(list: WorkspaceList | undefined): string | undefined {
  return list?.opened?.workspaceId ?? list?.workspaces[0]?.workspaceId;
}

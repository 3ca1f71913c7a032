import type { InstanceAddress, WorkspaceList, WorkspaceView } from '@goondan/cli/studio';
import { useEffect, useState } from 'react';
import type { LiveTurns } from '../live/live-turns.ts';
import type { GoTo } from '../route/use-route.ts';
import { type Show, writeRoute } from '../route/route.ts';
import { Skeleton } from '../text/skeleton.tsx';
import { nameOf } from '../text/name-of.ts';
import { changeTheme } from '../theme/theme.ts';
import { ConversationList } from './conversation-list.tsx';
import { Mark } from './mark.tsx';
import { NewConversation } from './new-conversation.tsx';

interface SidebarProps {
  readonly list: WorkspaceList | undefined;
  readonly workspaceId: string | undefined;
  readonly view: WorkspaceView | undefined;
  readonly shown: InstanceAddress | undefined;
  readonly live: LiveTurns;
  /** True if only conversations whose last turn failed are listed. */
  readonly onlyFailed: boolean;
  readonly show: Show;
  readonly goTo: GoTo;
  readonly openHelp: () => void;
}

export function Sidebar({ list, workspaceId, view, shown, live, onlyFailed, show, goTo, openHelp }: SidebarProps) {
  // Used only in a narrow window, where the list is collapsed until a person opens it.
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [workspaceId, shown?.agent, shown?.instanceKey]);
  return (
    <nav className={isOpen ? 'sidebar is-open' : 'sidebar'} aria-label="Swarms and conversations">
      <header className="brand">
        <Mark />
        <span>Goondan Studio</span>
        <button
          type="button"
          className="plain menu"
          aria-label="Conversations"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          ☰
        </button>
      </header>
      {list !== undefined && workspaceId !== undefined && (
        <label className="picker">
          <span className={`dot ${view?.isRunning === true ? 'is-running' : 'is-stopped'}`} aria-hidden="true" />
          <select aria-label="Swarm" value={workspaceId} onChange={({ target }) => goTo({ workspaceId: target.value })}>
            {choices(list).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {view === undefined && workspaceId !== undefined && <Skeleton lines={6} />}
      {view !== undefined && (
        <>
          <a
            className={shown === undefined ? 'line sidebar-item is-shown' : 'line sidebar-item'}
            href={writeRoute({ workspaceId: view.workspaceId })}
            aria-current={shown === undefined ? 'page' : undefined}
          >
            Overview
            {view.deadLetters.length > 0 && <span className="badge is-bad">{view.deadLetters.length} put aside</span>}
            {view.questions.length > 0 && <span className="badge">{view.questions.length} waiting</span>}
          </a>
          <ConversationList view={view} shown={shown} live={live} onlyFailed={onlyFailed} show={show} />
          {view.agents.length > 0 && <NewConversation view={view} goTo={goTo} />}
        </>
      )}
      <footer className="sidebar-foot">
        <span className="quiet">{list === undefined ? '' : `gdn ${list.version}`}</span>
        <span>
          <button
            type="button"
            className="plain"
            title="Light or dark (t)"
            aria-label="Light or dark"
            onClick={changeTheme}
          >
            ◐
          </button>
          <button type="button" className="plain" title="Keys (?)" aria-label="Keys" onClick={openHelp}>
            ?
          </button>
        </span>
      </footer>
    </nav>
  );
}

/** Lists the workspaces, including the one for which Studio was opened, even if it has not been used yet. */
function choices({ workspaces, opened }: WorkspaceList): readonly { readonly id: string; readonly name: string }[] {
  const known = workspaces.map(({ workspaceId: id, swarm, isRunning }) => ({
    id,
    name: nameOf(id, swarm),
    isRunning,
  }));
  const isKnown = known.some(({ id }) => id === opened?.workspaceId);
  const all =
    opened === undefined || isKnown
      ? known
      : [{ id: opened.workspaceId, name: opened.swarm, isRunning: false }, ...known];
  // Adds the id to equal names, because two projects may use the same name for their swarms.
  return all.map(({ id, name, isRunning }) => {
    const isAmbiguous = all.filter((other) => other.name === name).length > 1 && name !== id;
    return { id, name: `${isAmbiguous ? `${name} (${id})` : name}${isRunning ? ' · running' : ''}` };
  });
}

import type { InstanceAddress, WorkspaceView } from '@goondan/cli/studio';
import { useEffect } from 'react';
import { nameOf } from '../text/name-of.ts';

/** Sets the title of the browser tab: the number of waiting questions, and the current view. */
export function useTitle(shown: InstanceAddress | undefined, view: WorkspaceView | undefined): void {
  const waiting = view === undefined || view.questions.length === 0 ? '' : `(${view.questions.length}) `;
  const what =
    shown === undefined
      ? view && nameOf(view.workspaceId, view.swarm)
      : `${shown.agent}${shown.instanceKey === 'default' ? '' : ` ${shown.instanceKey}`}`;
  const title = `${waiting}${what === undefined ? '' : `${what} · `}Goondan Studio`;
  useEffect(() => {
    document.title = title;
  }, [title]);
}

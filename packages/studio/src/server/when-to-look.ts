/** Decides which notices change the view of a workspace, so that it is read again. */
import type { StudioNotice } from '@goondan/cli/studio';

/** Read at once: a person may be waited for, or look at something that is gone. */
export function isUrgent({ type }: StudioNotice): boolean {
  return (
    type === 'approval' || type === 'swarm' || type === 'dropped' || type === 'instance' || type === 'conversations'
  );
}

/** Read soon. Steps and tools are not in the view, so they cause no read. */
export function isInView(notice: StudioNotice): boolean {
  switch (notice.type) {
    case 'turn.ended':
      return true;
    case 'runtime.event':
      return notice.name === 'turn.started' || notice.name === 'extension.status';
    case 'log':
      return WORDS_OF_SUPERVISION.test(notice.line.event ?? '');
    default:
      return false;
  }
}

/** Log lines of the orchestrator about processes, connections, dead letters and the swarm; not their output. */
const WORDS_OF_SUPERVISION = /^(?:(?:connection|event|instance|start|swarm)\.|process\.(?:exited|hung|cut_off)$)/;

/** Which notices are about what a workspace's view holds, so that it is asked for again. */
import type { StudioNotice } from '@goondan/cli/studio';

/** At once: a person may be waited for, or looks at something that is gone. */
export function isUrgent({ type }: StudioNotice): boolean {
  return (
    type === 'approval' || type === 'swarm' || type === 'dropped' || type === 'instance' || type === 'conversations'
  );
}

/** Soon. What a step or a tool does is not in the view: it is not asked for with each of them. */
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

/** What the orchestrator says of processes, connections, inputs that are put aside, and the swarm; not what they print. */
const WORDS_OF_SUPERVISION = /^(?:(?:connection|event|instance|start|swarm)\.|process\.(?:exited|hung|cut_off)$)/;

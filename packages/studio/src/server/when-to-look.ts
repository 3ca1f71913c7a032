/** Decides which notices change the view of a workspace, so that the view must be read again. */
import type { StudioNotice } from '@goondan/cli/studio';

/** Tells whether to read at once: a question may be waiting, or the shown conversation may have been deleted. */
export function isUrgent({ type }: StudioNotice): boolean {
  return (
    type === 'question' || type === 'swarm' || type === 'dropped' || type === 'instance' || type === 'conversations'
  );
}

/** Tells whether to read soon. Steps and tools are not part of the view, so they cause no read. */
export function isInView(notice: StudioNotice): boolean {
  switch (notice.type) {
    case 'turn.ended':
      return true;
    case 'runtime.event':
      return /^(?:turn\.started|extension\.status|changeset\..*)$/.test(notice.name);
    case 'log':
      return WORDS_OF_SUPERVISION.test(notice.line.event ?? '');
    default:
      return false;
  }
}

/**
 * Matches log lines of the orchestrator about processes, connections, dead letters, changesets and the swarm, but not the output of
 * processes.
 */
const WORDS_OF_SUPERVISION =
  /^(?:(?:changeset|connection|event|instance|start|swarm)\.|process\.(?:exited|hung|cut_off)$)/;

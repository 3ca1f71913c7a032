/** How turns ended since the page was opened: the server learns it later, from their traces. */
import { endingOf, type StudioNotice, type WorkspaceView } from '@goondan/cli/studio';
import { liveKey } from './live-turns.ts';

/** True for each conversation, by its `liveKey`, whose last turn failed. */
export type Failures = Readonly<Record<string, boolean>>;

export function noteEndings(before: Failures, notices: readonly StudioNotice[]): Failures {
  const ended = notices.flatMap((notice) => (notice.type === 'turn.ended' ? [notice.end] : []));
  if (ended.length === 0) return before;
  const after = ended.map(
    ({ agent, instanceKey, result }) => [liveKey(agent, instanceKey), endingOf(result) === 'failed'] as const,
  );
  return { ...before, ...Object.fromEntries(after) };
}

/** Returns the view with the newer failures. */
export function withFailures(view: WorkspaceView, failures: Failures): WorkspaceView {
  const conversations = view.conversations.map((each) => {
    const { failed = false, ...conversation } = each;
    const isFailed = failures[liveKey(each.agent, each.instanceKey)] ?? failed;
    return isFailed ? { ...conversation, failed: true as const } : conversation;
  });
  return { ...view, conversations };
}

import type { WorkspaceView } from '@goondan/cli/studio';

type Asked = WorkspaceView['questions'][number];

/** Names the thing that waits for approval, at the beginning of a sentence. */
export function subjectOf({ kind, toolName }: Pick<Asked, 'kind' | 'toolName'>): string {
  if (kind === undefined) return toolName;
  return kind === 'change' ? 'A change of the bundle' : 'A model call above a budget';
}

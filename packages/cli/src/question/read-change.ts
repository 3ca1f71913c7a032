import type { QuestionSummary } from '@goondan/runtime';
import type { FileChange } from '@goondan/runtime/internal';

/** A change of a bundle that waits for approval. */
export interface AskedChange {
  readonly changesetId: string;
  readonly files: readonly FileChange[];
}

/**
 * Returns the change that a question is about. Returns `undefined` for a question about a tool call, and for a question
 * whose arguments do not describe a change: a process of a bundle sent them, and nobody checked them yet.
 */
export function readChange({ kind, args }: Pick<QuestionSummary, 'kind' | 'args'>): AskedChange | undefined {
  const { changesetId, files } = args;
  if (kind !== 'change' || typeof changesetId !== 'string' || !Array.isArray(files)) return undefined;
  const changes: readonly unknown[] = files;
  return changes.every(isFileChange) ? { changesetId, files: changes } : undefined;
}

function isFileChange(file: unknown): file is FileChange {
  const { path, change, diff } = (file ?? {}) as Record<string, unknown>;
  const isKnown = change === 'added' || change === 'changed' || change === 'deleted';
  return isKnown && typeof path === 'string' && typeof diff === 'string';
}

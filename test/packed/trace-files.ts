/**
 * Which files of a package are needed, found by reading them: whatever a file names in quotes, or a resource as its
 * entry, and that is there, is needed by it. And what its modules import.
 */
import { posix } from 'node:path';

export type ReadFile = (path: string) => string;

/** Everything that can be reached from `start`, itself included. */
export function traceFiles(start: readonly string[], files: ReadonlySet<string>, read: ReadFile): Set<string> {
  const reached = new Set(start.filter((path) => files.has(path)));
  // The set grows while it is walked.
  for (const path of reached) {
    for (const named of namedPaths(read(path))) {
      const target = posix.join(posix.dirname(path), named);
      if (files.has(target)) reached.add(target);
    }
  }
  return reached;
}

function namedPaths(text: string): string[] {
  const quoted = [...text.matchAll(/(['"`])([\w@./-]+\.(?:ts|mjs|js|json|yaml))\1/g)].map(([, , path = '']) => path);
  const entries = [...text.matchAll(/\bentry: *(\.\/[\w./-]+)/g)].map(([, path = '']) => path);
  return [...quoted, ...entries];
}

/** What a module imports, types too, in every way there is. */
export function importsOf(text: string): string[] {
  const patterns = [
    /^(?:import|export)\s(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm,
    /^[^*/]*\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, specifier = '']) => specifier));
}

/** `@ai-sdk/openai/internal` → `@ai-sdk/openai`. */
export function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/**
 * Finds the files that a package needs, by reading its files. A file needs every existing path that it quotes or names
 * as the entry or the keeper of a resource. Also finds the imports of the package's modules.
 */
import { posix } from 'node:path';

export type ReadFile = (path: string) => string;

/** Lists all files that can be reached from `start`, including `start`. */
export function traceFiles(start: readonly string[], files: ReadonlySet<string>, read: ReadFile): Set<string> {
  const reached = new Set(start.filter((path) => files.has(path)));
  // The loop also visits paths that it adds to the set.
  for (const path of reached) {
    for (const named of namedPaths(read(path))) {
      const target = posix.join(posix.dirname(path), named);
      if (files.has(target)) reached.add(target);
    }
  }
  return reached;
}

function namedPaths(text: string): string[] {
  const quoted = [...text.matchAll(/(['"`])([\w@./-]+\.(?:ts|cjs|mjs|js|json|yaml))\1/g)].map(
    ([, , path = '']) => path,
  );
  const entries = [...text.matchAll(/\b(?:entry|goondan\.ai\/keeper): *(\.\/[\w./-]+)/g)].map(([, path = '']) => path);
  return [...quoted, ...entries];
}

/** Lists the imports of a module in every form, types included. */
export function importsOf(text: string): string[] {
  const patterns = [
    /^(?:import|export)\s(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm,
    /^[^*/]*\b(?:import|require)\(\s*['"]([^'"]+)['"]\s*\)/gm,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, specifier = '']) => specifier));
}

/** Returns the name of the package: `@ai-sdk/openai` for `@ai-sdk/openai/internal`. */
export function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Collects the values of an option that can be repeated. */
export function collectPaths(path: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, path];
}

/**
 * Merges options from several sources. The options of different providers stay separate; for the same provider, later
 * options win.
 */
export function mergeProviderOptions<Options extends object>(
  ...layers: readonly (Readonly<Record<string, Options>> | undefined)[]
): Record<string, Options> | undefined {
  const merged: Record<string, Options> = {};
  for (const layer of layers) {
    for (const [provider, options] of Object.entries(layer ?? {}))
      merged[provider] = { ...merged[provider], ...options };
  }
  return Object.keys(merged).length > 0 ? merged : undefined;
}

/** Merges options of several layers. Each provider keeps its own options; for one provider a later layer wins. */
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

/** Options of several providers laid over each other: each provider keeps its own, and of one provider the later win. */
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

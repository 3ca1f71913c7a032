/**
 * Returns the folders that hold an agent's code: the bundle folder, or, for an agent declared in a program, the folders
 * of its extensions and tools.
 */
export function codeFolders({
  bundleFolder,
  extensions = [],
  tools = [],
}: {
  readonly bundleFolder?: string;
  readonly extensions?: readonly { readonly root: string }[];
  readonly tools?: readonly { readonly root?: string }[];
}): readonly string[] {
  if (bundleFolder !== undefined) return [bundleFolder];
  return [...new Set([...extensions, ...tools].flatMap(({ root }) => (root === undefined ? [] : [root])))];
}

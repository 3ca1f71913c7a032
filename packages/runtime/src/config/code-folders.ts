import type { DeclaredAgent } from './declared-agent.ts';

type Located = Partial<Pick<DeclaredAgent, 'bundleFolder'>> & {
  readonly extensions?: readonly { readonly root: string }[];
  readonly tools?: readonly { readonly root?: string }[];
};

/**
 * Returns the folders with an agent's code: that of its bundle, or those of its parts when a program declared the
 * agent.
 */
export function codeFolders({ bundleFolder, extensions = [], tools = [] }: Located): readonly string[] {
  if (bundleFolder !== undefined) return [bundleFolder];
  return [...new Set([...extensions, ...tools].flatMap(({ root }) => (root === undefined ? [] : [root])))];
}

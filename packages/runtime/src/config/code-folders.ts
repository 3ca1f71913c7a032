import type { DeclaredAgent } from './declared-agent.ts';

type Located = Partial<Pick<DeclaredAgent, 'bundleFolder'>> & {
  readonly extensions?: readonly { readonly root: string }[];
  readonly tools?: readonly { readonly root?: string }[];
};

/** Where the code of an agent's bundle is: its folder, or those of its parts when the agent was declared by a program. */
export function codeFolders({ bundleFolder, extensions = [], tools = [] }: Located): readonly string[] {
  if (bundleFolder !== undefined) return [bundleFolder];
  return [...new Set([...extensions, ...tools].flatMap(({ root }) => (root === undefined ? [] : [root])))];
}

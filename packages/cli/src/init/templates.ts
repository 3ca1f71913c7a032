/** What `gdn init` can write; each is a folder of `packages/cli/templates`. */
export const templateNames = ['default', 'multi-agent', 'extension', 'minimal'] as const;

export type Template = (typeof templateNames)[number];

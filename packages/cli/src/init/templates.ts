/** What `gdn init` can write; each is a folder of `packages/cli/templates`, and `demo` the bundle of `gdn demo` itself. */
export const templateNames = ['default', 'multi-agent', 'extension', 'minimal', 'demo'] as const;

export type Template = (typeof templateNames)[number];

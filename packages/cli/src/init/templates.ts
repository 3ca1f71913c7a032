/** The templates of `gdn init`: each is a folder of `packages/cli/templates`; `demo` is the bundle of `gdn demo`. */
export const templateNames = ['default', 'multi-agent', 'extension', 'minimal', 'demo'] as const;

export type Template = (typeof templateNames)[number];

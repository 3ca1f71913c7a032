/**
 * The templates of `gdn init`. Each is a folder in `packages/cli/templates`, except `demo`, which is the bundle of `gdn
 * demo`.
 */
export const templateNames = ['default', 'multi-agent', 'extension', 'minimal', 'demo'] as const;

export type Template = (typeof templateNames)[number];

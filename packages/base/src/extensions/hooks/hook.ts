/** A hook, as in the config. */
import type { JsonObject } from '@goondan/types';

export const points = ['turn.pre', 'turn.post', 'step.pre', 'step.post', 'toolCall.pre', 'toolCall.post'] as const;

export type HookPoint = (typeof points)[number];

export interface Hook {
  readonly id?: string;
  readonly point: HookPoint;
  /** A lower priority runs first before the inside, and last after it. */
  readonly priority?: number;
  /** The tools, at the points of a tool call; `*` matches any text. */
  readonly tool?: string;
  readonly action: CommandHook | { readonly toolCall: { readonly tool: string; readonly args?: JsonObject } };
}

export interface CommandHook {
  readonly command: readonly string[];
  readonly timeoutMs?: number;
  readonly onFailure?: 'block' | 'continue';
}

export interface HooksConfig {
  readonly hooks: readonly Hook[];
  /** Variables for the processes of commands, in addition to PATH, HOME, LANG and a few like them. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Names a hook in messages. */
export function nameOf({ id, point, action }: Hook): string {
  return id ?? `${point} ${'command' in action ? (action.command[0] ?? '') : action.toolCall.tool}`;
}

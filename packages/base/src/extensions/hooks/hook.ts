/** A hook, as declared in `Agent.spec.hooks` or in the config. */
import type { HookPoint, JsonObject } from '@goondan/types';

export interface Hook {
  readonly id?: string;
  readonly point: HookPoint;
  /** Hooks of a point run with the lowest priority first, and hooks with equal priorities in the order of the config. */
  readonly priority?: number;
  /** The tools to which the hook applies, at the points of a tool call; `*` matches any text. */
  readonly tool?: string;
  /** If true, a failed tool call of the hook fails its turn, step or tool call. Otherwise it is only logged. */
  readonly required?: boolean;
  readonly action: CommandHook | { readonly toolCall: { readonly tool: string; readonly args?: JsonObject } };
}

export interface CommandHook {
  readonly command: readonly string[];
  readonly timeoutMs?: number;
  readonly onFailure?: 'block' | 'continue';
}

export interface HooksConfig {
  readonly hooks: readonly Hook[];
  /** Environment variables for the hook's commands, in addition to the standard ones such as PATH, HOME and LANG. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the name of a hook, for messages. */
export function nameOf({ id, point, action }: Hook): string {
  return id ?? `${point} ${'command' in action ? (action.command[0] ?? '') : action.toolCall.tool}`;
}

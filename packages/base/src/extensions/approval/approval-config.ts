import type { JsonValue, ToolAnnotations } from '@goondan/types';

/** Deny beats ask beats allow, whatever the order of the rules. */
export type Verdict = 'allow' | 'ask' | 'deny';

export type Effects = NonNullable<ToolAnnotations['effects']>;

/** A text is a glob; any other value must be equal. */
export type ArgumentPattern = JsonValue | { equals: JsonValue } | { glob: string } | { regex: string };

export interface RuleConfig {
  tool: string | string[];
  /** Dotted path of an argument → pattern; all must match. */
  when?: Record<string, ArgumentPattern>;
  then: Verdict;
  reason?: string;
}

export interface ApprovalConfig {
  rules?: RuleConfig[];
  /** The verdict for calls without a matching rule, or one for each kind of effect. */
  default?: Verdict | Partial<Record<Effects, Verdict>>;
  expiresInSeconds?: number;
  priority?: number;
}

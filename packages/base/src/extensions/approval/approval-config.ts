import type { JsonValue, ToolAnnotations } from '@goondan/types';

/** If several rules match, `deny` beats `ask`, and `ask` beats `allow`, whatever the order of the rules. */
export type Verdict = 'allow' | 'ask' | 'deny';

export type Effects = NonNullable<ToolAnnotations['effects']>;

/** A plain text is a glob; a value of any other type must be equal. */
export type ArgumentPattern = JsonValue | { equals: JsonValue } | { glob: string } | { regex: string };

export interface RuleConfig {
  tool: string | string[];
  /** Dotted path of an argument → pattern; all of them must match. */
  when?: Record<string, ArgumentPattern>;
  then: Verdict;
  reason?: string;
}

export interface ApprovalConfig {
  rules?: RuleConfig[];
  /** The verdict for calls that match no rule: one for all, or one per kind of effect. */
  default?: Verdict | Partial<Record<Effects, Verdict>>;
  expiresInSeconds?: number;
  priority?: number;
}

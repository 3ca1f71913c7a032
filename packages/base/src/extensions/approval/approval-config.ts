import type { ArgumentPattern, ToolAnnotations } from '@goondan/types';

/** If several rules match, `deny` beats `ask`, and `ask` beats `allow`, whatever the order of the rules. */
export type Verdict = 'allow' | 'ask' | 'deny';

export type Effects = NonNullable<ToolAnnotations['effects']>;

export interface RuleConfig {
  tool: string | string[];
  /** Patterns by the dotted path of an argument. All patterns must match. */
  when?: Record<string, ArgumentPattern>;
  then: Verdict;
  reason?: string;
}

export interface ApprovalConfig {
  rules?: RuleConfig[];
  /** The verdict for calls that match no rule: one verdict for all calls, or one for each kind of effect. */
  default?: Verdict | Partial<Record<Effects, Verdict>>;
  expiresInSeconds?: number;
  priority?: number;
}

/**
 * Allows, denies or asks about tool calls, by rules. Its layer is as far inside as its tier allows, so that it sees the
 * arguments that the handler gets. If an inner layer still changes the arguments, the call is refused.
 */
import {
  type ApprovalOutcome,
  type ErrorCode,
  errorCatalogue,
  type ExtensionRegister,
  type ToolCallMiddlewareContext,
  type ToolCallResult,
} from '@goondan/types';
import type { ApprovalConfig } from './approval-config.ts';
import { compileRules } from './compile-rules.ts';
import { judgeCall } from './judge-call.ts';

const INNERMOST = 1_000;

export const register: ExtensionRegister<ApprovalConfig> = ({ pipeline }, config) => {
  const { rules = [], default: defaults, expiresInSeconds, priority = INNERMOST } = config;
  const compiled = compileRules(rules);
  const guard = async (ctx: ToolCallMiddlewareContext): Promise<ToolCallResult> => {
    const { verdict, reason, dependsOnArguments } = judgeCall(compiled, defaults, ctx);
    if (verdict === 'deny') return refuseByRule(ctx, reason);
    if (verdict === 'ask') {
      const wait = expiresInSeconds === undefined ? {} : { expiresInMs: expiresInSeconds * 1_000 };
      const outcome = await ctx.approval.ask({ reason, ...wait });
      if (outcome.decision !== 'approved') return refuseAs(ctx, outcome);
      // Other arguments of a person must pass the rules, too. They need no second question.
      const again = outcome.args === undefined ? undefined : judgeCall(compiled, defaults, ctx);
      return again?.verdict === 'deny' ? refuseByRule(ctx, again.reason) : ctx.next();
    }
    if (dependsOnArguments) ctx.approval.bind();
    return ctx.next();
  };
  pipeline.register('toolCall', guard, { name: 'approval', mayShortCircuit: true, priority });
};

function refuseByRule(ctx: ToolCallMiddlewareContext, reason: string): ToolCallResult {
  return refuse(ctx, 'E_APPROVAL_DENIED', `"${ctx.toolName}" is not allowed here: ${reason}`);
}

function refuseAs(ctx: ToolCallMiddlewareContext, { decision, note }: ApprovalOutcome): ToolCallResult {
  if (decision === 'expired') {
    return refuse(ctx, 'E_APPROVAL_EXPIRED', `Nobody approved this call of "${ctx.toolName}" in time.`);
  }
  const said = note === undefined ? '' : ` They say: ${note}`;
  return refuse(ctx, 'E_APPROVAL_DENIED', `A person denied this call of "${ctx.toolName}".${said}`);
}

/** Creates an error result for the model, with a suggestion. */
function refuse({ toolCallId, toolName }: ToolCallMiddlewareContext, code: ErrorCode, message: string): ToolCallResult {
  const { suggestion } = errorCatalogue[code];
  return { toolCallId, toolName, status: 'error', error: { name: 'GoondanError', code, message, suggestion } };
}

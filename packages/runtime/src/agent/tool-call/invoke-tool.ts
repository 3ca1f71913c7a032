/**
 * The core of a tool call. Returns the recorded result if there is one. Otherwise it checks that the call can run and
 * that these arguments are approved, and then runs the handler. A mistake of the model or the tool becomes a result and
 * is never thrown.
 */
import {
  type AgentsApi,
  GoondanError,
  type JsonObject,
  type JsonValue,
  type ToolCallResult,
  type ToolContext,
} from '@goondan/types';
import { copyJson, copyJsonObject, NotJson } from '../../json/copy-json.ts';
import { agentsApi } from '../agents-api/agents-api.ts';
import { valueOfOutcome } from '../turn-state/effects.ts';
import { maskToolResult } from '../secrets/mask-result.ts';
import { errorResult } from './error-result.ts';
import { logFailedCall } from './log-failed-call.ts';
import type { RunningToolCall, ToolCallAsk } from './running-tool-call.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import type { Pausable } from '../own-time-timer.ts';
import { withDeadline } from '../with-deadline.ts';
import { checkToolCall } from './check-tool-call.ts';
import type { RegisteredTool } from '../tool/tool-registry.ts';

export async function invokeTool(turn: RunningTurn, call: RunningToolCall): Promise<ToolCallResult> {
  const { ask } = call;
  try {
    // A tool that started before the crash counts as started, so its step must not be dropped.
    if (turn.effects.wasBegun(ask.key)) ask.onStart();
    const recorded = turn.effects.recorded(ask.key);
    // Safe: only results are recorded under this key.
    if (recorded !== undefined) return valueOfOutcome(recorded) as unknown as ToolCallResult;
    const { tool, input } = await checkToolCall(turn.agent.tools, ask, call.finalArguments());
    call.approvals.check(input);
    if (turn.effects.isInterrupted(ask.key) && !tool.idempotent) throw interrupted(ask.toolName);
    return await turn.agent.activity.effect(() => runHandler(turn, call, tool, input));
  } catch (error) {
    return errorResult(turn.agent, ask, error, 'E_TOOL_FAILED');
  }
}

async function runHandler(
  turn: RunningTurn,
  call: RunningToolCall,
  tool: RegisteredTool,
  input: JsonObject,
): Promise<ToolCallResult> {
  const { effects } = turn;
  const { ask } = call;
  effects.intend(ask.key, 'tool');
  // The intent must be on disk before anything happens outside, because after a crash it is all that is known about the
  // call.
  if (tool.effects !== 'none') await turn.log.flush();
  ask.onStart();
  // Copied, because the handler may change its arguments.
  const asked = () => ({ tool: ask.toolName, args: copyJsonObject(input) });
  const result = await effects.perform({ key: ask.key, kind: 'tool', asked }, () =>
    callHandler(turn, call, tool, input),
  );
  effects.record(ask.key, 'tool', { ok: true, value: result as unknown as JsonValue });
  turn.log.flushSoon();
  return result;
}

async function callHandler(
  turn: RunningTurn,
  call: RunningToolCall,
  tool: RegisteredTool,
  input: JsonObject,
): Promise<ToolCallResult> {
  const { agent, signal } = turn;
  const { ask } = call;
  const timeoutMs = agent.policy.toolTimeoutMs;
  const whenLate = () => new GoondanError('E_TOOL_TIMEOUT', `"${ask.toolName}" ran longer than ${timeoutMs} ms.`);
  try {
    const output = await withDeadline({ clock: turn.clock, timeoutMs, whenLate, signal }, (inner, deadline) =>
      tool.handler(toolContext(turn, ask, tool, inner, deadline), input),
    );
    const checked = { toolCallId: ask.toolCallId, toolName: ask.toolName, output: checkOutput(ask.toolName, output) };
    return maskToolResult({ ...checked, status: 'ok' }, agent.mask);
  } catch (error) {
    call.thrown = error;
    logFailedCall(turn, ask, error, { fallbackCode: 'E_TOOL_FAILED', extension: tool.extension });
    return errorResult(agent, ask, error, 'E_TOOL_FAILED');
  }
}

function toolContext(
  turn: RunningTurn,
  ask: ToolCallAsk,
  tool: RegisteredTool,
  signal: AbortSignal,
  deadline: Pausable,
): ToolContext {
  const { agent, turnId, event } = turn;
  return Object.freeze({
    ...agent.address,
    turnId,
    traceId: event.traceId,
    toolCallId: ask.toolCallId,
    workdir: agent.workdir,
    // Copied, so that one call does not see changes made by another.
    config: copyJsonObject(tool.config),
    logger: agent.toolLogger,
    signal,
    agents: agentsOf(turn, ask, tool, deadline),
    ...(ask.message === undefined ? {} : { message: ask.message }),
    get traceparent() {
      return ask.spanIds.traceparent(event.isSampled);
    },
  });
}

/**
 * Returns `ctx.agents` for a handler. A request has its own deadline, so the tool's deadline is paused while the tool
 * waits for the answer.
 */
function agentsOf(turn: RunningTurn, ask: ToolCallAsk, tool: RegisteredTool, deadline: Pausable): AgentsApi {
  const { idempotent, isPatient } = tool;
  const agents = agentsApi(turn, { scope: ask.key, spanIds: ask.spanIds, isPatient });
  const { activity } = turn.agent;
  return {
    ...agents,
    async request(params) {
      deadline.pause();
      try {
        return await (idempotent ? activity.aside(() => agents.request(params)) : agents.request(params));
      } finally {
        deadline.resume();
      }
    },
  };
}

function checkOutput(toolName: string, output: unknown): JsonValue {
  try {
    return copyJson(output ?? null, { omitUndefined: true });
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new GoondanError('E_TOOL_OUTPUT', `"${toolName}" returned no JSON: ${error.message}.`);
  }
}

function interrupted(toolName: string): GoondanError {
  return new GoondanError(
    'E_INTERRUPTED',
    `A crash interrupted this call of "${toolName}"; whether it took effect is unknown.`,
  );
}

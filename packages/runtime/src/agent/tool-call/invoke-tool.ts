/**
 * The core of a tool call: was it done already, can it run, may it run with these arguments, then the handler. Never throws
 * for what the model or the tool got wrong.
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
import { valueOf } from '../turn-state/effects.ts';
import { maskToolResult } from '../secrets/mask-result.ts';
import { errorResult } from './error-result.ts';
import { logFailedCall } from './log-failed-call.ts';
import type { RunningToolCall, ToolCallAsk } from './running-tool-call.ts';
import type { TurnRun } from '../turn-state/turn-run.ts';
import type { Pausable } from '../own-time-timer.ts';
import { within } from '../within.ts';
import { checkToolCall } from './check-tool-call.ts';
import type { RegisteredTool } from '../tool/tool-registry.ts';

export async function invokeTool(run: TurnRun, call: RunningToolCall): Promise<ToolCallResult> {
  const { ask } = call;
  try {
    // What it did before the crash cannot be dropped with the step either.
    if (run.effects.wasBegun(ask.key)) ask.onStart();
    const recorded = run.effects.recorded(ask.key);
    // It was a result when it was recorded.
    if (recorded !== undefined) return valueOf(recorded) as unknown as ToolCallResult;
    const { tool, input } = await checkToolCall(run, ask, call.finalArguments());
    call.approvals.check(input);
    if (run.effects.isInterrupted(ask.key) && !tool.idempotent) throw interrupted(ask.toolName);
    return await run.agent.activity.effect(() => runHandler(run, call, tool, input));
  } catch (error) {
    return errorResult(run, ask, error, 'E_TOOL_FAILED');
  }
}

async function runHandler(
  run: TurnRun,
  call: RunningToolCall,
  tool: RegisteredTool,
  input: JsonObject,
): Promise<ToolCallResult> {
  const { effects } = run;
  const { ask } = call;
  effects.intend(ask.key, 'tool');
  // Before anything happens outside, the intent must be on disk: after a crash it is all that is known.
  if (tool.effects !== 'none') await run.log.flush();
  ask.onStart();
  // The handler may do to its arguments what it likes.
  const asked = () => ({ tool: ask.toolName, args: copyJsonObject(input) });
  const result = await effects.perform({ key: ask.key, kind: 'tool', asked }, () =>
    callHandler(run, call, tool, input),
  );
  effects.record(ask.key, 'tool', { ok: true, value: result as unknown as JsonValue });
  run.log.flushSoon();
  return result;
}

async function callHandler(
  run: TurnRun,
  call: RunningToolCall,
  tool: RegisteredTool,
  input: JsonObject,
): Promise<ToolCallResult> {
  const { agent, signal } = run;
  const { ask } = call;
  const timeoutMs = agent.policy.toolTimeoutMs;
  const whenLate = () => new GoondanError('E_TOOL_TIMEOUT', `"${ask.toolName}" ran longer than ${timeoutMs} ms.`);
  try {
    const output = await within({ clock: run.clock, timeoutMs, whenLate, signal }, (inner, deadline) =>
      tool.handler(toolContext(run, ask, tool, inner, deadline), input),
    );
    const checked = { toolCallId: ask.toolCallId, toolName: ask.toolName, output: checkOutput(ask.toolName, output) };
    return maskToolResult({ ...checked, status: 'ok' }, agent.mask);
  } catch (error) {
    call.thrown = error;
    logFailedCall(run, ask, error, { fallbackCode: 'E_TOOL_FAILED', extension: tool.extension });
    return errorResult(run, ask, error, 'E_TOOL_FAILED');
  }
}

function toolContext(
  run: TurnRun,
  ask: ToolCallAsk,
  tool: RegisteredTool,
  signal: AbortSignal,
  deadline: Pausable,
): ToolContext {
  const { agent, turnId, traceId } = run;
  return Object.freeze({
    ...agent.address,
    turnId,
    traceId,
    toolCallId: ask.toolCallId,
    workdir: agent.workdir,
    // A copy, so that no call sees what another has done to it.
    config: copyJsonObject(tool.config),
    logger: agent.toolLogger,
    signal,
    agents: agentsOf(run, ask, tool, deadline),
    ...(ask.message === undefined ? {} : { message: ask.message }),
    get traceparent() {
      return ask.spanIds.traceparent(run.event.isSampled);
    },
  });
}

/** A request has a deadline of its own: while the tool waits for its answer, the tool's stands still. */
function agentsOf(run: TurnRun, ask: ToolCallAsk, tool: RegisteredTool, deadline: Pausable): AgentsApi {
  const { idempotent, isPatient } = tool;
  const agents = agentsApi(run, { scope: ask.key, spanIds: ask.spanIds, isPatient });
  const { activity } = run.agent;
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

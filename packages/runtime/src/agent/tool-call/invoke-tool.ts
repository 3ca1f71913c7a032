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
import { copyJson, copyJsonObject } from '../../json/copy-json.ts';
import { type Asker, agentsApi } from '../agents-api/agents-api.ts';
import { maskToolResult } from '../secrets/mask-result.ts';
import { bundleApi } from './bundle-api.ts';
import { waitForNextProcess } from './handler-run.ts';
import { personApi } from './person-api.ts';
import { errorResult, logFailedCall } from './error-result.ts';
import type { RunningToolCall } from './running-tool-call.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { type BoundedRun, withDeadline } from '../with-deadline.ts';
import { checkToolCall } from './check-tool-call.ts';
import { withFile } from '../tool/tool-fingerprint.ts';
import type { RegisteredTool } from '../tool/tool-registry.ts';

export async function invokeTool(turn: RunningTurn, call: RunningToolCall): Promise<ToolCallResult> {
  const { key } = call;
  try {
    // If the tool had already started before a crash, its step must not be dropped.
    if (turn.effects.wasBegun(key)) noteStart(call);
    const recorded = turn.effects.recorded(key);
    // Safe: only results are recorded under this key.
    if (recorded !== undefined) return recorded as unknown as ToolCallResult;
    const { tool, input } = await checkToolCall(turn.agent.tools, call, turn.demand?.finish);
    call.approvals.check(input);
    const result = await turn.agent.activity.effect(() => runHandler(turn, call, tool, input));
    return call.thrown !== undefined && call.thrown === call.stopped ? await waitForNextProcess(turn) : result;
  } catch (error) {
    return errorResult(turn.agent, call, error, 'E_TOOL_FAILED');
  }
}

async function runHandler(
  turn: RunningTurn,
  call: RunningToolCall,
  tool: RegisteredTool,
  input: JsonObject,
): Promise<ToolCallResult> {
  const { effects } = turn;
  const { key, toolName } = call;
  effects.intend(key, 'tool');
  // The intent must be on disk before anything happens outside, because after a crash only the intent shows that the
  // call may have run.
  if (tool.effects !== 'none') await turn.log.flush();
  noteStart(call);
  // Copied, because the handler may change its arguments.
  const asked = () => ({ tool: toolName, args: copyJsonObject(input) });
  const isLost = effects.isInterrupted(key) && !mayRepeat(tool);
  const act = () => (isLost ? tellInterrupted(turn, call) : callHandler(turn, call, tool, input));
  // Recorded in both cases, so that further runs of the turn, and replays, get the same words.
  const result = await effects.perform({ key, kind: 'tool', asked }, act);
  effects.record(key, 'tool', { ok: true, value: result as unknown as JsonValue });
  turn.log.flushSoon();
  return result;
}

async function callHandler(
  turn: RunningTurn,
  call: RunningToolCall,
  tool: RegisteredTool,
  input: JsonObject,
): Promise<ToolCallResult> {
  const { agent } = turn;
  const { toolCallId, toolName } = call;
  const timeoutMs = agent.plan.policy.toolTimeoutMs;
  const whenLate = () => new GoondanError('E_TOOL_TIMEOUT', `"${toolName}" ran longer than ${timeoutMs} ms.`);
  const messages = () => turn.conversation.state.nextMessages;
  const leave = agent.running.enter(withFile(`in tool ${toolName}`, tool.provider));
  try {
    const output = await withDeadline(turn, timeoutMs, whenLate, (run) => {
      const returned = tool.handler(toolContext(turn, call, tool, run), input, messages);
      agent.running.wait();
      return returned;
    });
    const taken = agent.files.takeResult(checkOutput(toolName, output), messages);
    return maskToolResult({ toolCallId, toolName, output: taken, status: 'ok' }, agent.mask);
  } catch (error) {
    call.thrown = error;
    logFailedCall(turn, call, error, 'E_TOOL_FAILED', tool.extension);
    return errorResult(agent, call, error, 'E_TOOL_FAILED');
  } finally {
    leave();
  }
}

function toolContext(turn: RunningTurn, call: RunningToolCall, tool: RegisteredTool, run: BoundedRun): ToolContext {
  const { agent, turnId, event, before } = turn;
  const { toolCallId, message, key: scope, spanIds } = call;
  let config: JsonObject | undefined;
  let agents: AgentsApi | undefined;
  return Object.freeze({
    ...agent.address,
    turnId,
    traceId: event.traceId,
    ...(before.movedFrom === undefined ? {} : { movedFrom: before.movedFrom }),
    toolCallId,
    workdir: agent.workdir,
    // Copied, so that one call does not see changes made by another.
    get config() {
      return (config ??= copyJsonObject(tool.config));
    },
    logger: agent.toolLogger,
    get signal() {
      return run.signal;
    },
    get agents() {
      const asker = { scope, spanIds, isPatient: tool.isPatient };
      return (agents ??= agentsOf(turn, asker, tool.idempotent, run));
    },
    ...(message === undefined ? {} : { message }),
    get person() {
      return personApi(turn, { call, mayRepeat: mayRepeat(tool), bounds: run }, tool.extension);
    },
    get bundle() {
      return bundleApi(turn, { call, mayRepeat: tool.idempotent, bounds: run });
    },
    get traceparent() {
      return spanIds.traceparent(event.isSampled);
    },
  });
}

/**
 * Returns `ctx.agents` for a handler. A request has its own deadline, so the tool's deadline is paused while the tool
 * waits for the answer.
 */
function agentsOf(turn: RunningTurn, asker: Asker, idempotent: boolean, run: BoundedRun): AgentsApi {
  const agents = agentsApi(turn, asker);
  const { activity } = turn.agent;
  return {
    ...agents,
    async request(params) {
      run.deadline.pause();
      try {
        return await (idempotent ? activity.aside(run, () => agents.request(params)) : agents.request(params));
      } finally {
        run.deadline.resume();
      }
    },
  };
}

/** Records that a tool of the step has started, so that the step cannot be dropped any more. */
function noteStart({ step }: RunningToolCall): void {
  if (step !== undefined) step.toolStarted = true;
}

function checkOutput(toolName: string, output: unknown): JsonValue {
  const refuse = ({ message }: Error) =>
    new GoondanError('E_TOOL_OUTPUT', `"${toolName}" returned no JSON: ${message}.`);
  return copyJson(output ?? null, { omitUndefined: true, refuse });
}

/** Returns true if a call may run again after a crash left its outcome unknown. */
function mayRepeat({ idempotent, effects }: RegisteredTool): boolean {
  return idempotent || effects === 'none';
}

async function tellInterrupted({ agent, before }: RunningTurn, call: RunningToolCall): Promise<ToolCallResult> {
  const why = before.blocked === undefined ? 'A crash' : `The end of its process, which was ${before.blocked},`;
  const message = `${why} interrupted this call of "${call.toolName}"; whether it took effect is unknown.`;
  return errorResult(agent, call, new GoondanError('E_INTERRUPTED', message), 'E_INTERRUPTED');
}

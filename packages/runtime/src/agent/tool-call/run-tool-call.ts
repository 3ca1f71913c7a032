/**
 * The only way to run a tool: the toolCall chain, then the handler. A failure becomes a result that the model can read.
 */
import { GoondanError, type JsonObject, type ToolCallResult } from '@goondan/types';
import { copyJsonObject, NotJson } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { isAgentsTool } from '../agents-api/agents-tool.ts';
import { CallApprovals } from './call-approvals.ts';
import { readToolCallResult } from '../pipeline/result-shapes.ts';
import { extensionOf, toPlacedError } from '../pipeline/turn-error.ts';
import { invokeTool } from './invoke-tool.ts';
import { maskToolResult } from '../secrets/mask-result.ts';
import { runChain } from '../pipeline/run-chain.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { errorResult, logFailedCall } from './error-result.ts';
import { previewArguments, previewCall, previewError } from './preview-call.ts';
import type { RunningToolCall, ToolCallAsk } from './running-tool-call.ts';
import { ToolCallContext } from './tool-call-context.ts';

export async function runToolCall(turn: RunningTurn, ask: ToolCallAsk): Promise<ToolCallResult> {
  const { agent } = turn;
  const { toolCallId, toolName, key, step } = ask;
  const refusal = findRefusal(ask);
  const startedAt = agent.clock.elapsed();
  const call = startCall(turn, ask);
  const named = () => previewCall(turn, call);
  agent.bus.tell('tool.called', named);
  const observer = refusal === undefined ? turn.observer : undefined;
  call.span = observer?.chain(
    {
      kind: 'toolCall',
      label: toolName,
      id: toolCallId,
      effect: key,
      by: ask.by,
      mask: agent.mask,
      spanIds: call.spanIds,
      isRepeated: turn.effects.isRecorded(key),
      inspect: () => ({ args: call.args }),
      input: () => call.preview(),
      thrown: () => call.thrown,
    },
    around(turn, ask).span,
  );
  try {
    if (refusal !== undefined) throw refusal;
    const given = await runChain<ToolCallResult>(turn, {
      kind: 'toolCall',
      span: call.span,
      contextFor: (asking, next) => new ToolCallContext(turn, call, asking, next),
      core: () => invokeTool(turn, call),
      read: (value, reader) => readToolCallResult(value, toolCallId, toolName, reader),
      answered: (extension) => step?.answeredBy.set(toolCallId, extension),
    });
    // Also masks a result that a layer made.
    const result = maskToolResult(withoutBytes(given, agent), agent.mask);
    const duration = agent.clock.elapsed() - startedAt;
    const place = () => defined({ place: agent.locate(call.thrown).place });
    const { status, error } = result;
    const failure = () =>
      status === 'ok' || error === undefined ? {} : { error: { ...previewError(error, agent.mask), ...place() } };
    agent.bus.tell('tool.completed', () => ({ ...named(), status, duration, ...failure() }));
    return result;
  } catch (error) {
    const duration = agent.clock.elapsed() - startedAt;
    agent.bus.tell('tool.failed', () => ({
      ...named(),
      duration,
      error: toPlacedError(error, 'E_EXT_MIDDLEWARE', agent),
    }));
    logFailedCall(turn, ask, error, 'E_EXT_MIDDLEWARE', extensionOf(error));
    return errorResult(agent, ask, error, 'E_EXT_MIDDLEWARE');
  } finally {
    call.approvals.close();
  }
}

/** Replaces bytes in a result that a layer made. */
function withoutBytes(result: ToolCallResult, { files }: RunningTurn['agent']): ToolCallResult {
  const { output } = result;
  return output === undefined ? result : { ...result, output: files.takeOutput(output) };
}

function startCall(turn: RunningTurn, ask: ToolCallAsk): RunningToolCall {
  const { toolName, input, key, step } = ask;
  const placeholder = {};
  let preview: string | undefined;
  const call: RunningToolCall = {
    ...ask,
    stepIndex: step?.stepIndex ?? turn.stepCount,
    spanIds: around(turn, ask).spanIds.inside(key),
    span: undefined,
    approvals: new CallApprovals(toolName),
    args: copyArguments(input) ?? placeholder,
    runInside: (inner) => runToolCall(turn, inner),
    preview: () => (preview ??= previewArguments(input, turn.agent.mask)),
    // Arguments that were not an object are rejected in their original form, unless a layer replaced them.
    finalArguments: () => (isUntouched(call.args, placeholder) ? input : call.args),
  };
  return call;
}

/** Returns the part of the turn in which the call happens: the call of whose layer it is, or the step, or the turn. */
function around(turn: RunningTurn, { outer, step }: ToolCallAsk): Pick<RunningTurn, 'span' | 'spanIds'> {
  return outer ?? step ?? turn;
}

/** The maximum number of layers' calls inside each other. */
const MOST_NESTED = 8;

/**
 * Returns the reason why a call does not even reach the layers. Layers do not see an incomplete call, because a layer
 * might ask a person about it or act on it. Layers do not see a call that is nested too deep, because one of them would
 * make the next call. Other agents are out of reach of toolCall layers.
 */
function findRefusal({ toolName, isCut, callers, by, outer }: ToolCallAsk): GoondanError | undefined {
  if (isCut === true) {
    const message = `"${toolName}" was not run: the reply ended at its limit of tokens, and the call may be incomplete.`;
    return new GoondanError('E_REPLY_TRUNCATED', message);
  }
  if (outer !== undefined && isAgentsTool(toolName)) {
    const message = `"${toolName}" was not run: the toolCall layer "${by?.name}" of extension "${by?.extension}" cannot call other agents.`;
    const suggestion = 'Call the agent in a turn or step layer, with `ctx.agents`.';
    return new GoondanError('E_TOOL_NOT_OFFERED', message, { suggestion });
  }
  if (callers.length <= MOST_NESTED) return undefined;
  const message = `"${toolName}" was not run: extension "${callers.at(-1)?.extension}" called it inside ${MOST_NESTED} calls of layers.`;
  return new GoondanError('E_TOOL_DEPTH', message);
}

/** Copies the arguments for layers to read and change. Returns `undefined` when they are not a JSON object. */
function copyArguments(input: unknown): JsonObject | undefined {
  try {
    return copyJsonObject(input, { omitUndefined: true });
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

function isUntouched(args: JsonObject, placeholder: object): boolean {
  return args === placeholder && Object.keys(args).length === 0;
}

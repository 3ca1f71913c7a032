import type { JsonObject } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { ExecutionChainContext } from '../turn/execution-context.ts';
import type { TurnRun } from '../turn/turn-run.ts';

/** One tool call on its way through the toolCall chain. Layers may change `args` only. */
export interface RunningToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly stepIndex: number;
  args: JsonObject;
}

const callKey = Symbol('call');

/** What the toolCall chain's layers share. It has no `agents`, on purpose. */
export class ToolCallContext extends ExecutionChainContext {
  readonly [callKey]: RunningToolCall;

  constructor(run: TurnRun, call: RunningToolCall) {
    super(run);
    this[callKey] = call;
  }

  get stepIndex() {
    return this[callKey].stepIndex;
  }
  get toolName() {
    return this[callKey].toolName;
  }
  get toolCallId() {
    return this[callKey].toolCallId;
  }
  get args() {
    return this[callKey].args;
  }
  set args(args: JsonObject) {
    if (!isPlainObject(args)) throw new TypeError('ctx.args must be a plain object.');
    this[callKey].args = args;
  }
}

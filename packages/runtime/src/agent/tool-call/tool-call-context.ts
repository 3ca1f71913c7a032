import type { JsonObject } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import type { AskingLayer } from '../pipeline/layer-context.ts';
import { ExecutionChainContext, type Next } from '../turn/execution-context.ts';
import type { TurnRun } from '../turn/turn-run.ts';

/** One tool call on its way through the toolCall chain. Layers may change `args` only. */
export interface RunningToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly stepIndex: number;
  args: JsonObject;
}

const callKey = Symbol('call');

/** What a toolCall layer is given. It has no `agents`, on purpose. */
export class ToolCallContext extends ExecutionChainContext {
  readonly [callKey]: RunningToolCall;

  constructor(run: TurnRun, call: RunningToolCall, asking: AskingLayer, next: Next) {
    super(run, asking, next);
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

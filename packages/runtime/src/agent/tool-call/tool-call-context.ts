import type { ApprovalApi, JsonObject } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import type { AskingLayer } from '../pipeline/layer-context.ts';
import { copyArguments } from './check-tool-call.ts';
import { askForApproval } from './ask-for-approval.ts';
import { TurnLayerContext, turnOf } from '../turn-state/execution-context.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import type { RunningToolCall } from './running-tool-call.ts';

const callKey = Symbol('call');

/** The context of a toolCall layer. It deliberately has no `agents`. */
export class ToolCallContext extends TurnLayerContext {
  readonly [callKey]: RunningToolCall;

  constructor(turn: RunningTurn, call: RunningToolCall, asking: AskingLayer, next: () => Promise<unknown>) {
    super(turn, asking, next);
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
  get effects() {
    const tool = this[turnOf].agent.tools.get(this.toolName);
    return tool === undefined || tool.extension !== undefined ? 'external' : tool.effects;
  }
  get approval(): ApprovalApi {
    const turn = this[turnOf];
    const call = this[callKey];
    return {
      ask: (request) => {
        const asked = askForApproval(turn, call, request);
        // If a layer ignores this promise, the core still rejects the call, and the process continues.
        asked.catch(() => undefined);
        return asked;
      },
      bind: () => call.approvals.bind(copyArguments(call.toolName, call.args)),
    };
  }
  get args() {
    return this[callKey].args;
  }
  set args(args: JsonObject) {
    if (!isPlainObject(args)) throw new TypeError('ctx.args must be a plain object.');
    this[callKey].args = args;
  }
}

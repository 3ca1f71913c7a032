import type { ApprovalApi, ExtensionIdentity, JsonObject } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { copyArguments } from './check-tool-call.ts';
import { askForApproval } from './ask-for-approval.ts';
import { askForLayer } from './ask-for-layer.ts';
import { askingLayer } from '../pipeline/layer-context.ts';
import { subjectOf, TurnLayerContext, turnOf } from '../turn-state/execution-context.ts';
import type { RunningToolCall } from './running-tool-call.ts';

/** The context of a toolCall layer. It deliberately has no `agents`. */
export class ToolCallContext extends TurnLayerContext<RunningToolCall> {
  get stepIndex() {
    return this[subjectOf].stepIndex;
  }
  get toolName() {
    return this[subjectOf].toolName;
  }
  get toolCallId() {
    return this[subjectOf].toolCallId;
  }
  get callers() {
    return this[subjectOf].callers;
  }
  get tools() {
    const turn = this[turnOf];
    const call = this[subjectOf];
    const layer = this[askingLayer];
    const ask = { turn, step: call.step, layer, scope: `${call.key}/${layer.layer.extension}` };
    return {
      call: async (name: string, args: JsonObject = {}, caller?: ExtensionIdentity) =>
        call.runInside(askForLayer(ask, name, args, call, caller)),
    };
  }
  get effects() {
    const tool = this[turnOf].agent.tools.get(this.toolName);
    return tool === undefined || tool.extension !== undefined ? 'external' : tool.effects;
  }
  get approval(): ApprovalApi {
    const turn = this[turnOf];
    const call = this[subjectOf];
    const { layer } = this[askingLayer];
    return {
      ask: (request) => {
        const asked = askForApproval(turn, call, layer.extension, request);
        // If a layer ignores this promise, its rejection must not end the process. The core rejects the tool call
        // anyway.
        asked.catch(() => undefined);
        return asked;
      },
      bind: () => call.approvals.bind(copyArguments(call.toolName, call.args)),
    };
  }
  get args() {
    return this[subjectOf].args;
  }
  set args(args: JsonObject) {
    if (!isPlainObject(args)) throw new TypeError('ctx.args must be a plain object.');
    this[subjectOf].args = args;
  }
}

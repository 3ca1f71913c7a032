import type { ModelMessage, ModelParams, ToolCatalogItem } from '@goondan/types';
import type { AskingLayer } from '../pipeline/layer-context.ts';
import { TurnLayerContext } from '../turn-state/execution-context.ts';
import type { ToolCatalog } from '../tool/tool-catalog.ts';
import type { RunningStep } from '../turn-state/running-step.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';

/** One model call on its way through the model chain. Layers may change only messages, tools, params and `modelRef`. */
export interface ModelCall {
  /** The key of the effect. */
  readonly key: string;
  /** The step of the call; undefined for a call by a turn layer. */
  readonly step: RunningStep | undefined;
  /** Shared with the conversation; must not be changed. */
  readonly messages: readonly ModelMessage[];
  /** A copy for the layers, made when a layer first reads `messages`. */
  ownMessages?: ModelMessage[];
  readonly tools: ToolCatalog;
  params: ModelParams;
  modelRef: string;
  readonly stepIndex: number;
  /** The extension that made the call; `undefined` for the step's own call. */
  readonly extension: string | undefined;
}

const callKey = Symbol('call');

/** The context of a model layer. */
export class ModelContext extends TurnLayerContext {
  readonly [callKey]: ModelCall;

  constructor(turn: RunningTurn, call: ModelCall, asking: AskingLayer, next: () => Promise<unknown>) {
    super(turn, asking, next);
    this[callKey] = call;
  }

  get stepIndex() {
    return this[callKey].stepIndex;
  }
  get extension() {
    return this[callKey].extension;
  }
  get messages() {
    const call = this[callKey];
    call.ownMessages ??= [...call.messages];
    return call.ownMessages;
  }
  set messages(messages: ModelMessage[]) {
    if (!Array.isArray(messages)) throw new TypeError('ctx.messages must be an array of messages.');
    this[callKey].ownMessages = messages;
  }
  get tools() {
    return this[callKey].tools.changeable;
  }
  set tools(tools: ToolCatalogItem[]) {
    if (!Array.isArray(tools)) throw new TypeError('ctx.tools must be an array of tools.');
    this[callKey].tools.changeable = tools;
  }
  get params() {
    return this[callKey].params;
  }
  set params(params: ModelParams) {
    if (typeof params !== 'object' || params === null) throw new TypeError('ctx.params must be an object.');
    this[callKey].params = params;
  }
  get modelRef() {
    return this[callKey].modelRef;
  }
  set modelRef(modelRef: string) {
    if (typeof modelRef !== 'string') throw new TypeError('ctx.modelRef must be a text such as "Model/name".');
    this[callKey].modelRef = modelRef;
  }
}

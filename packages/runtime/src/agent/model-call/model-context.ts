import type { BudgetsApi, ModelMessage, ModelParams, ToolCatalogItem } from '@goondan/types';
import { askingLayer } from '../pipeline/layer-context.ts';
import { subjectOf, TurnLayerContext } from '../turn-state/execution-context.ts';
import type { ToolCatalog } from '../tool/tool-catalog.ts';
import type { RunningStep } from '../turn-state/running-turn.ts';
import type { CallReservations } from './call-reservations.ts';

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
  modelReason?: string | undefined;
  readonly stepIndex: number;
  /** The extension that made the call; `undefined` for the step's own call. */
  readonly extension: string | undefined;
  /** The fields that the extension set itself: `modelRef`, `params.temperature`; absent for the step's own call. */
  readonly own?: readonly string[];
  /** The reservations of the call; set when the call begins its way. */
  reservations?: CallReservations;
}

/** The context of a model layer. */
export class ModelContext extends TurnLayerContext<ModelCall> {
  get stepIndex() {
    return this[subjectOf].stepIndex;
  }
  get extension() {
    return this[subjectOf].extension;
  }
  get messages() {
    const call = this[subjectOf];
    call.ownMessages ??= [...call.messages];
    return call.ownMessages;
  }
  set messages(messages: ModelMessage[]) {
    if (!Array.isArray(messages)) throw new TypeError('ctx.messages must be an array of messages.');
    this[subjectOf].ownMessages = messages;
  }
  get tools() {
    return this[subjectOf].tools.changeableBy(this[askingLayer].layer);
  }
  set tools(tools: ToolCatalogItem[]) {
    if (!Array.isArray(tools)) throw new TypeError('ctx.tools must be an array of tools.');
    this[subjectOf].tools.replace(tools, this[askingLayer].layer);
  }
  get params() {
    return this[subjectOf].params;
  }
  set params(params: ModelParams) {
    if (typeof params !== 'object' || params === null) throw new TypeError('ctx.params must be an object.');
    this[subjectOf].params = params;
  }
  get budgets(): BudgetsApi {
    const { reservations } = this[subjectOf];
    const { layer } = this[askingLayer];
    if (reservations === undefined) throw new TypeError('ctx.budgets belongs to a call that has not begun.');
    return {
      reserve: () => reservations.reserve(layer),
      ask: (name, request) => reservations.ask(layer, name, request),
    };
  }
  get modelRef() {
    return this[subjectOf].modelRef;
  }
  set modelRef(modelRef: string) {
    if (typeof modelRef !== 'string') throw new TypeError('ctx.modelRef must be a text such as "Model/name".');
    this[subjectOf].modelRef = modelRef;
  }
  get modelReason() {
    return this[subjectOf].modelReason;
  }
  set modelReason(reason: string | undefined) {
    if (reason !== undefined && typeof reason !== 'string') throw new TypeError('ctx.modelReason must be a text.');
    this[subjectOf].modelReason = reason;
  }
}

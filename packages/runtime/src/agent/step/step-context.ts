import type { ToolCatalogItem } from '@goondan/types';
import type { AskingLayer } from '../pipeline/layer-context.ts';
import { turnOf } from '../turn-state/execution-context.ts';
import { PowerfulContext } from './powerful-context.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import type { RunningStep } from '../turn-state/running-step.ts';

const stepKey = Symbol('runningStep');

/** The context of a step layer. */
export class StepContext extends PowerfulContext {
  readonly [stepKey]: RunningStep;

  constructor(turn: RunningTurn, step: RunningStep, asking: AskingLayer, next: () => Promise<unknown>) {
    super(turn, step, asking, next);
    this[stepKey] = step;
  }

  get turn() {
    return this[turnOf].shown;
  }
  get stepIndex() {
    return this[stepKey].stepIndex;
  }
  get toolCatalog() {
    return this[stepKey].catalog.changeable;
  }
  set toolCatalog(catalog: ToolCatalogItem[]) {
    if (!Array.isArray(catalog)) throw new TypeError('ctx.toolCatalog must be an array of tools.');
    this[stepKey].catalog.changeable = catalog;
  }
}

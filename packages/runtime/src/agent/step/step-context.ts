import type { ToolCatalogItem } from '@goondan/types';
import type { AskingLayer } from '../pipeline/layer-context.ts';
import { type Next, runOf } from '../turn-state/execution-context.ts';
import { PowerfulContext } from './powerful-context.ts';
import type { TurnRun } from '../turn-state/turn-run.ts';
import type { RunningStep } from '../turn-state/running-step.ts';

const stepKey = Symbol('runningStep');

/** What a step layer is given. */
export class StepContext extends PowerfulContext {
  readonly [stepKey]: RunningStep;

  constructor(run: TurnRun, step: RunningStep, asking: AskingLayer, next: Next) {
    super(run, step, asking, next);
    this[stepKey] = step;
  }

  get turn() {
    return this[runOf].turn;
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

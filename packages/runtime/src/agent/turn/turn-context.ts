import type { AskingLayer } from '../pipeline/layer-context.ts';
import { type Next, runOf } from '../turn-state/execution-context.ts';
import { PowerfulContext } from '../step/powerful-context.ts';
import type { TurnRun } from '../turn-state/turn-run.ts';

/** What a turn layer is given. */
export class TurnContext extends PowerfulContext {
  constructor(run: TurnRun, asking: AskingLayer, next: Next) {
    super(run, undefined, asking, next);
  }

  get inputEvent() {
    return this[runOf].event;
  }
}

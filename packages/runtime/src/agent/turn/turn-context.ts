import type { AskingLayer } from '../pipeline/layer-context.ts';
import { type Next, runOf } from './execution-context.ts';
import { PowerfulContext } from './powerful-context.ts';
import type { TurnRun } from './turn-run.ts';

/** What a turn layer is given. */
export class TurnContext extends PowerfulContext {
  constructor(run: TurnRun, asking: AskingLayer, next: Next) {
    super(run, undefined, asking, next);
  }

  get inputEvent() {
    return this[runOf].event;
  }
}

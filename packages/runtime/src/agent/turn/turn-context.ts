import type { AskingLayer } from '../pipeline/layer-context.ts';
import { turnOf } from '../turn-state/execution-context.ts';
import { PowerfulContext } from '../step/powerful-context.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';

/** The context of a turn layer. */
export class TurnContext extends PowerfulContext {
  constructor(turn: RunningTurn, asking: AskingLayer, next: () => Promise<unknown>) {
    super(turn, undefined, asking, next);
  }

  get inputEvent() {
    return this[turnOf].event;
  }
}

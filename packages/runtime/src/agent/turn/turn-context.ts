import { turnOf } from '../turn-state/execution-context.ts';
import { PowerfulContext } from '../step/powerful-context.ts';

/** The context of a turn layer. */
export class TurnContext extends PowerfulContext<undefined> {
  get inputEvent() {
    return this[turnOf].event;
  }
}

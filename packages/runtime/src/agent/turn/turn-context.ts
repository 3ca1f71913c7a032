import { runOf } from './execution-context.ts';
import { PowerfulContext } from './powerful-context.ts';
import type { TurnRun } from './turn-run.ts';

/** What the turn chain's layers share. */
export class TurnContext extends PowerfulContext {
  constructor(run: TurnRun) {
    super(run, undefined);
  }

  get inputEvent() {
    return this[runOf].event;
  }
}

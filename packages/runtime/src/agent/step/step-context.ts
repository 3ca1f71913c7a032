import type { ToolCatalogItem } from '@goondan/types';
import { subjectOf, turnOf } from '../turn-state/execution-context.ts';
import { PowerfulContext } from './powerful-context.ts';
import type { RunningStep } from '../turn-state/running-step.ts';

/** The context of a step layer. */
export class StepContext extends PowerfulContext<RunningStep> {
  get turn() {
    return this[turnOf].shown;
  }
  get stepIndex() {
    return this[subjectOf].stepIndex;
  }
  get toolCatalog() {
    return this[subjectOf].catalog.changeable;
  }
  set toolCatalog(catalog: ToolCatalogItem[]) {
    if (!Array.isArray(catalog)) throw new TypeError('ctx.toolCatalog must be an array of tools.');
    this[subjectOf].catalog.changeable = catalog;
  }
}

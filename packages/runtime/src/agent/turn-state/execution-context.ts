/** What the contexts of all four chains share: who and where, the turn's metadata, its signal. */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { type AskingLayer, LayerContext } from '../pipeline/layer-context.ts';
import type { TurnRun } from './turn-run.ts';

export type Next = () => Promise<unknown>;

/** The turn behind a context. A symbol, so that authors see only the contract. */
export const runOf = Symbol('run');

export abstract class ExecutionChainContext extends LayerContext {
  readonly [runOf]: TurnRun;

  constructor(run: TurnRun, asking: AskingLayer, next: Next) {
    super(asking, next);
    this[runOf] = run;
  }

  get agentName() {
    return this[runOf].agent.address.agentName;
  }
  get instanceKey() {
    return this[runOf].agent.address.instanceKey;
  }
  get turnId() {
    return this[runOf].turnId;
  }
  get traceId() {
    return this[runOf].traceId;
  }
  get workdir() {
    return this[runOf].agent.workdir;
  }
  get bundleFolder() {
    return this[runOf].agent.bundleFolder;
  }
  get signal() {
    return this[runOf].signal;
  }
  get metadata() {
    return this[runOf].metadata;
  }
  set metadata(metadata: Record<string, JsonValue>) {
    if (!isPlainObject(metadata)) throw new TypeError('ctx.metadata must be a plain object.');
    this[runOf].metadata = metadata;
  }
}

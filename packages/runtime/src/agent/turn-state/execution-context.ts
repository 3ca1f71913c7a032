/** The members that the contexts of all four kinds share: address, ids, folders, the turn's metadata and its signal. */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { type AskingLayer, LayerContext } from '../pipeline/layer-context.ts';
import type { RunningTurn } from './running-turn.ts';

/**
 * The key under which a context stores its turn. It is a symbol, so that authors of extensions see only the documented
 * members.
 */
export const turnOf = Symbol('turn');
/** The key under which a context stores what its chain is about: a step, a model call or a tool call. */
export const subjectOf = Symbol('subject');

export abstract class TurnLayerContext<Subject> extends LayerContext {
  readonly [turnOf]: RunningTurn;
  readonly [subjectOf]: Subject;

  constructor(turn: RunningTurn, subject: Subject, asking: AskingLayer, next: () => Promise<unknown>) {
    super(asking, next);
    this[turnOf] = turn;
    this[subjectOf] = subject;
  }

  get agentName() {
    return this[turnOf].agent.address.agentName;
  }
  get instanceKey() {
    return this[turnOf].agent.address.instanceKey;
  }
  get turnId() {
    return this[turnOf].turnId;
  }
  get traceId() {
    return this[turnOf].event.traceId;
  }
  get movedFrom() {
    return this[turnOf].before.movedFrom;
  }
  get workdir() {
    return this[turnOf].agent.workdir;
  }
  get bundleFolder() {
    return this[turnOf].agent.bundleFolder;
  }
  get signal() {
    return this[turnOf].signal;
  }
  get metadata() {
    return this[turnOf].metadata;
  }
  set metadata(metadata: Record<string, JsonValue>) {
    if (!isPlainObject(metadata)) throw new TypeError('ctx.metadata must be a plain object.');
    this[turnOf].metadata = metadata;
  }
}

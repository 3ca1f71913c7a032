/**
 * Merges the notices of several nodes into the notices of one watcher.
 *
 * 1. The notices of one turn come from one node at a time. When a turn goes on at another node, later notices of the node
 *    before are left out: that node was cut off and has only not noticed it yet.
 * 2. When the new node runs a step again that has shown text, the text is discarded first. So the watcher never shows a text
 *    twice.
 * 3. A runtime event of a turn is told once, also if a backlog repeats it, and so is each state of an approval, which every
 *    node tells.
 */
import type { TurnDelta } from '@goondan/types';
import type { DeltaNotice, InstanceAddress, RuntimeEventNotice, SwarmNotice } from '../../control/swarm.ts';
import { eventIdOf } from '../../ports/ids.ts';

/** The number of turns, and of questions, that are remembered; the oldest are forgotten. */
const MOST_TURNS = 4_096;
const MOST_QUESTIONS = 4_096;
/** The number of runtime events of one turn that are remembered. A backlog has at most 200. */
const MOST_EVENTS = 400;

type Listener = (notice: SwarmNotice) => void;

interface Turn {
  source: object;
  readonly left: WeakSet<object>;
  /** The step that has shown text. */
  step: Pick<TurnDelta, 'turnId' | 'stepId' | 'stepIndex'> | undefined;
  /** True until the first delta after a change of the source. */
  hasMoved: boolean;
  readonly events: Set<string>;
}

export class MergedNotices {
  readonly #turns = new Map<string, Turn>();
  readonly #questions = new Set<string>();

  constructor(private readonly listener: Listener) {}

  /** Returns the listener for one connection to a node. */
  from(source: object): Listener {
    return (notice) => this.#tell(source, notice);
  }

  #tell(source: object, notice: SwarmNotice): void {
    switch (notice.type) {
      case 'delta':
        return this.#delta(source, notice);
      case 'runtime.event':
        return this.#runtimeEvent(source, notice);
      case 'turn.ended': {
        if (this.#turnAt(source, notice.end, notice.end.eventId) !== undefined) this.listener(notice);
        return;
      }
      case 'question':
        if (isNew(this.#questions, `${notice.question.id} ${notice.state}`, MOST_QUESTIONS)) this.listener(notice);
        return;
      case 'log':
      case 'instance':
      case 'dropped':
        return this.listener(notice);
    }
  }

  #delta(source: object, notice: DeltaNotice): void {
    const turn = this.#turnAt(source, notice.at, notice.eventId);
    if (turn === undefined) return;
    const { type, turnId, stepId, stepIndex } = notice.delta;
    const repeats = turn.hasMoved && turn.step?.stepId === stepId && type !== 'discard';
    turn.hasMoved = false;
    if (repeats) {
      const { at, eventId } = notice;
      this.listener({ type: 'delta', at, eventId, delta: { type: 'discard', turnId, stepId, stepIndex } });
    }
    turn.step = type === 'discard' ? undefined : { turnId, stepId, stepIndex };
    this.listener(notice);
  }

  #runtimeEvent(source: object, notice: RuntimeEventNotice): void {
    const { turnId } = notice.payload;
    if (typeof turnId !== 'string') return this.listener(notice);
    const turn = this.#turnAt(source, notice.at, eventIdOf(turnId));
    if (turn === undefined) return;
    if (isNew(turn.events, `${notice.name} ${JSON.stringify(notice.payload)}`, MOST_EVENTS)) this.listener(notice);
  }

  /** Returns the turn of a notice; `undefined` if the turn went on at another node since. */
  #turnAt(source: object, { agent, instanceKey }: InstanceAddress, eventId: string | undefined): Turn | undefined {
    const key = JSON.stringify([agent, instanceKey, eventId]);
    const turn = this.#turns.get(key);
    if (turn === undefined) return this.#begin(key, source);
    if (turn.source === source) return turn;
    if (turn.left.has(source)) return undefined;
    turn.left.add(turn.source);
    turn.source = source;
    turn.hasMoved = true;
    return turn;
  }

  #begin(key: string, source: object): Turn {
    const turn: Turn = { source, left: new WeakSet(), step: undefined, hasMoved: false, events: new Set() };
    this.#turns.set(key, turn);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MOST_TURNS && oldest !== undefined) this.#turns.delete(oldest);
    return turn;
  }
}

/** Adds a key. Returns false if it is there already. The oldest keys are forgotten. */
function isNew(keys: Set<string>, key: string, most: number): boolean {
  if (keys.has(key)) return false;
  keys.add(key);
  const [oldest] = keys;
  if (keys.size > most && oldest !== undefined) keys.delete(oldest);
  return true;
}

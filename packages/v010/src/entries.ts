/** The functions that one old extension registered, and the order of the functions of all old extensions. */
import { GoondanError } from '@goondan/types';
import { compatError, stackHere } from './compat-error.ts';
import type { Member } from './member.ts';
import {
  isMiddlewarePoint,
  isMutatorPoint,
  type MiddlewarePoint,
  type MutatorPoint,
  nearestPoint,
  type Point,
  silentPoints,
} from './points.ts';

export interface Entry {
  readonly member: Member;
  readonly point: Point;
  readonly priority: number;
  /** The stack of the registration, which has the place in the file of the extension. */
  readonly registeredAt: string;
  /** The function of the extension. Its result is unchecked. */
  readonly run: (ctx: object, next?: (ctx?: object) => Promise<unknown>) => unknown;
}

export class Entries {
  readonly #entries: Entry[] = [];
  #isClosed = false;

  constructor(private readonly member: Member) {}

  get list(): readonly Entry[] {
    return this.#entries;
  }

  /** Called when `register` has settled. */
  close(): void {
    this.#isClosed = true;
  }

  mutate(point: unknown, run: unknown, options: unknown): void {
    const { name } = this.member;
    if (typeof point === 'string' && silentPoints.includes(point)) {
      this.#check(point, run, options);
      this.member.warnOnce(
        `${point}: it never fires, because Goondan does not manage workspaces. The function is not used.`,
      );
      return;
    }
    if (isMiddlewarePoint(point)) {
      const suggestion = `Use api.pipelines.wrap('${point}', (ctx, next) => next(ctx)).`;
      throw compatError(name, `registered a mutator at ${point}, which is a middleware point`, suggestion);
    }
    if (!isMutatorPoint(point)) throw this.#unknown(point);
    this.#add(point, run, options);
  }

  wrap(point: unknown, run: unknown, options: unknown): void {
    const { name } = this.member;
    if (isMutatorPoint(point) || (typeof point === 'string' && silentPoints.includes(point))) {
      const suggestion = `Use api.pipelines.mutate('${point}', (ctx) => ctx).`;
      throw compatError(name, `wrapped ${point}, which is a mutator point`, suggestion);
    }
    if (!isMiddlewarePoint(point)) throw this.#unknown(point);
    this.#add(point, run, options);
  }

  #add(point: MutatorPoint | MiddlewarePoint, run: unknown, options: unknown): void {
    this.#entries.push({ member: this.member, point, registeredAt: stackHere(), ...this.#check(point, run, options) });
  }

  #check(point: string, run: unknown, options: unknown = {}): Pick<Entry, 'run' | 'priority'> {
    const { name } = this.member;
    if (this.#isClosed) {
      const message = `Extension "${name}" registered a function at ${point} after its register() had finished.`;
      throw new GoondanError('E_PIPELINE_CLOSED', message);
    }
    const refuse = (problem: string) =>
      new GoondanError('E_PIPELINE_OPTIONS', `Extension "${name}", ${point}: ${problem}.`);
    if (typeof run !== 'function') throw refuse('the second argument is not a function');
    if (typeof options !== 'object' || options === null) throw refuse('the options are not an object');
    const { priority = 0, id } = options as { priority?: unknown; id?: unknown };
    if (typeof priority !== 'number' || !Number.isFinite(priority)) throw refuse('priority is not a number');
    if (id !== undefined && (typeof id !== 'string' || id === '')) throw refuse('id is not a text');
    // Safe: the result of the function is checked after every call.
    return { run: run as Entry['run'], priority };
  }

  #unknown(point: unknown): GoondanError {
    const nearest = nearestPoint(String(point));
    const problem = `registered a function at "${String(point)}", which is not a point`;
    return compatError(this.member.name, problem, `Did you mean "${nearest}"?`);
  }
}

/**
 * Returns the functions at a point in the order of v0.10: a lower priority first, and equal priorities in the order of
 * registration, which is the order of the members. Of functions that wrap, the first is the outermost.
 */
export function entriesAt(members: readonly Member[], point: Point): Entry[] {
  const all = members.flatMap(({ entries }) => entries.list.filter((entry) => entry.point === point));
  return all.toSorted((one, other) => one.priority - other.priority);
}

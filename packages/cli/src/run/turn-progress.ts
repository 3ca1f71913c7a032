/** What a turn does now, and how long it has done it: in its own agent, and in the agents that it called. */
import type { SwarmNotice } from '@goondan/runtime';
import { formatElapsed } from '../format-duration.ts';
import type { RuntimeNotice } from './limit-waits.ts';

interface Work {
  readonly agent: string;
  readonly what: string;
  readonly since: number;
  readonly turnId: string;
  /** The step of a model call. */
  readonly stepId?: string;
}

/** The maximum number of works that are kept. The others are not shown. */
const MOST_KEPT = 1_000;

export class TurnProgress {
  /** By the span, the wait or the extension; the newest last. */
  readonly #works = new Map<string, Work>();
  /** The step whose text is being written. */
  #written: string | undefined;

  /** `agent`: the agent that is asked. */
  constructor(agent: string, now: number) {
    this.#works.set('', { agent, what: 'waits to start', since: now, turnId: '' });
  }

  hear(notice: SwarmNotice, now: number): void {
    if (notice.type === 'delta') this.#written = notice.delta.type === 'text' ? notice.delta.stepId : undefined;
    if (notice.type === 'runtime.event') this.#happened(notice, now);
  }

  /** Describes the newest work, such as `12 s · assistant · bash__exec`: a narrow terminal cuts the end. */
  describe(now: number): string {
    const { agent, what, since } = this.#newest() ?? { agent: '', what: 'works', since: now };
    return [formatElapsed(now - since), agent, what].filter((part) => part !== '').join(' · ');
  }

  /** True while the model writes its answer. */
  get isWriting(): boolean {
    return this.#written !== undefined && this.#newest()?.stepId === this.#written;
  }

  #newest(): Work | undefined {
    return [...this.#works.values()].at(-1);
  }

  #happened({ name, at: { agent }, payload }: RuntimeNotice, now: number): void {
    const text = (field: string) => {
      const value = payload[field];
      return typeof value === 'string' ? value : '';
    };
    const [spanId, turnId, toolName] = [text('spanId'), text('turnId'), text('toolName')];
    const begin = (key: string, what: string, more?: Pick<Work, 'stepId'>) => {
      // After a crash, a resumed turn begins its works again. The newest one is the last.
      this.#works.delete(key);
      if (this.#works.size >= MOST_KEPT) return;
      this.#works.set(key, { agent, what, since: now, turnId, ...more });
    };
    switch (name) {
      case 'turn.started':
        this.#works.delete('');
        return begin(spanId, 'works');
      case 'step.started':
        return begin(spanId, 'model call', { stepId: text('stepId') });
      case 'tool.called':
      case 'approval.decided':
        return begin(spanId, toolName);
      case 'approval.asked':
        return begin(spanId, `${toolName} waits for an answer`);
      case 'limit.reached':
        return begin(`limit ${spanId}`, `waits for ${text('limit')}`);
      case 'limit.waited':
        return void this.#works.delete(`limit ${spanId}`);
      case 'extension.status': {
        const [extension, state] = [text('extension'), text('state')];
        const key = `extension ${agent} ${extension}`;
        if (state === 'connecting' || state === 'reconnecting') return begin(key, `${extension} is ${state}`);
        return void this.#works.delete(key);
      }
      case 'turn.completed':
      case 'turn.failed':
        return this.#forget(turnId);
      default:
        if (/^(?:step|tool)\.(?:completed|failed)$/.test(name)) this.#works.delete(spanId);
    }
  }

  #forget(ended: string): void {
    for (const [key, { turnId }] of this.#works) if (turnId === ended) this.#works.delete(key);
  }
}

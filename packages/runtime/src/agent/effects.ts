/**
 * Effects: model calls, tool calls and requests to other agents. Each is recorded when it completes; a resumed turn
 * gets the record and does not do it again.
 */
import { GoondanError, isErrorCode, type JsonValue } from '@goondan/types';
import type { EffectKind, EffectOutcome } from './conversation/conversation-store.ts';
import type { TurnLog, TurnLogWriter } from './conversation/turn-log.ts';

export class Effects {
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly before: Pick<TurnLog, 'effects' | 'intents'>,
    private readonly writer: TurnLogWriter,
  ) {}

  /** A key for the next effect of this kind in a scope: the same in every run that takes the same way. */
  nextKey(scope: string, kind: EffectKind): string {
    const name = `${scope}/${kind}`;
    const count = this.counts.get(name) ?? 0;
    this.counts.set(name, count + 1);
    return `${name}/${count}`;
  }

  recorded(key: string): EffectOutcome | undefined {
    return this.before.effects.get(key);
  }

  /** It was begun before a crash and nobody knows how it ended. */
  isInterrupted(key: string): boolean {
    return this.before.intents.has(key) && !this.before.effects.has(key);
  }

  intend(key: string, kind: EffectKind): void {
    this.writer.write({ type: 'intent', key, kind });
  }

  record(key: string, kind: EffectKind, outcome: EffectOutcome): void {
    this.writer.write({ type: 'effect', key, kind, outcome });
  }
}

/** The value of a recorded outcome, or its error thrown again. */
export function valueOf(outcome: EffectOutcome): JsonValue {
  if (outcome.ok) return outcome.value;
  const { code, message } = outcome.error;
  throw new GoondanError(isErrorCode(code) ? code : 'E_AGENT_FAILED', message);
}

/**
 * Effects: model calls, tool calls, requests to other agents and questions to people. Each is recorded when it completes; a resumed turn
 * gets the record and does not do it again. Outcomes are copied on the way in and out: layers may change a reply or a
 * result in place, and on resume they do so again, to what was recorded.
 */
import { GoondanError, isErrorCode, type JsonValue } from '@goondan/types';
import { copyJson } from '../json/copy-json.ts';
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

  isRecorded(key: string): boolean {
    return this.before.effects.has(key);
  }

  recorded(key: string): EffectOutcome | undefined {
    const outcome = this.before.effects.get(key);
    return outcome === undefined ? undefined : copyOutcome(outcome);
  }

  /** It was begun before a crash, however it ended. */
  wasBegun(key: string): boolean {
    return this.before.intents.has(key);
  }

  /** It was begun before a crash and nobody knows how it ended. */
  isInterrupted(key: string): boolean {
    return this.wasBegun(key) && !this.before.effects.has(key);
  }

  intend(key: string, kind: EffectKind): void {
    this.writer.write({ type: 'intent', key, kind });
  }

  record(key: string, kind: EffectKind, outcome: EffectOutcome): void {
    this.writer.write({ type: 'effect', key, kind, outcome: copyOutcome(outcome) });
  }
}

function copyOutcome(outcome: EffectOutcome): EffectOutcome {
  return outcome.ok ? { ok: true, value: copyJson(outcome.value, { omitUndefined: true }) } : outcome;
}

/** The value of a recorded outcome, or its error thrown again. */
export function valueOf(outcome: EffectOutcome): JsonValue {
  if (outcome.ok) return outcome.value;
  const { code, message } = outcome.error;
  throw new GoondanError(isErrorCode(code) ? code : 'E_AGENT_FAILED', message);
}

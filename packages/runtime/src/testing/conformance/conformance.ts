/**
 * The frame of all conformance suites. A suite registers checks with a function of the test framework in use, and opens
 * a new, empty store for each check.
 */
import { deepStrictEqual, fail } from 'node:assert/strict';
import { type AgentAddress, type AgentEvent, GoondanError, type TurnResult } from '@goondan/types';

/**
 * Registers a check; it fails if the promise rejects. The `test` functions of Bun, Vitest, Jest and Node fit.
 *
 * @example storeConformance(test, openMyStore)
 */
export type RegisterCheck = (name: string, check: () => Promise<void>) => void;

/** An open store for one check. */
export interface OpenedSeams<Seams> {
  readonly seams: Seams;
  /** Closes the store, and opens the same state again as the next process does. `seams` are not used after that. */
  again(): Promise<Seams>;
  /** Closes the store and removes its state. */
  end(): Promise<void>;
}

export type OpenSeams<Seams> = () => Promise<OpenedSeams<Seams>>;

/** Returns a function that registers a check with a store of its own. */
export function checksOf<Seams>(register: RegisterCheck, open: OpenSeams<Seams>) {
  return (name: string, check: (seams: Seams, again: () => Promise<Seams>) => Promise<void>): void =>
    register(name, async () => {
      const opened = await open();
      try {
        await check(opened.seams, () => opened.again());
      } finally {
        await opened.end();
      }
    });
}

export const address: AgentAddress = { agentName: 'conformance', instanceKey: 'default' };
export const otherAddress: AgentAddress = { agentName: 'conformance', instanceKey: 'other key/with: signs' };

export function eventOf(id: string, more: Partial<AgentEvent> = {}): AgentEvent {
  return {
    id,
    type: 'user.message',
    input: `input of ${id}`,
    instanceKey: address.instanceKey,
    source: { kind: 'cli', name: 'conformance' },
    traceId: '0123456789abcdef0123456789abcdef',
    createdAt: new Date('2026-01-02T03:04:05.678Z'),
    ...more,
  };
}

export function resultOf(turnId: string): TurnResult {
  return { turnId, finishReason: 'text_response' };
}

/** The turn of an event has this id. */
export function turnOf(eventId: string): string {
  return `turn-${eventId}`;
}

export function expectEqual(actual: unknown, expected: unknown, rule: string): void {
  deepStrictEqual(actual, expected, `${rule}\n  expected ${show(expected)}\n  received ${show(actual)}`);
}

/** Checks that the action rejects with one of these codes. */
export async function expectRefusal(
  action: () => Promise<unknown>,
  codes: readonly string[],
  rule: string,
): Promise<void> {
  let thrown: unknown;
  try {
    await action();
  } catch (error) {
    thrown = error;
  }
  if (thrown === undefined) fail(`${rule}\n  expected ${codes.join(' or ')}, but nothing was refused`);
  if (!GoondanError.is(thrown) || !codes.includes(thrown.code)) {
    fail(
      `${rule}\n  expected ${codes.join(' or ')}\n  received ${thrown instanceof Error ? thrown.stack : show(thrown)}`,
    );
  }
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

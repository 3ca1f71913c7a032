/**
 * Encodes and decodes messages, in the same way for every channel.
 *
 * 1. A message is checked when it is received, and also before it is sent. So the sender gets an error for a message
 *    that the other side could not read.
 * 2. A rejection is a `GoondanError` with `E_IPC_FRAME` that names the problem, whatever the bytes were.
 * 3. Dates are converted only by `date` in check/shape.ts.
 */
import { GoondanError } from '@goondan/types';
import { type Check, ShapeError } from './check/shape.ts';
import { checkFromAgent, type droppedCounts, type FromAgent } from './from-agent.ts';
import { checkFromConnector, type FromConnector } from './from-connector.ts';
import { checkFromKeeper, type FromKeeper } from './from-keeper.ts';
import { checkToAgent, type ToAgent } from './to-agent.ts';
import { checkToConnector, type ToConnector } from './to-connector.ts';
import { checkToKeeper, type ToKeeper } from './to-keeper.ts';

/**
 * The kinds of messages that only people read. Such messages may be dropped when the other side is too slow, and are
 * then counted.
 */
export type LossyKind = keyof ReturnType<typeof droppedCounts>;

export interface Codec<Out, In> {
  encode(message: Out): string;
  decode(frame: string): In;
  /** Like `decode`, for a frame that is parsed already. */
  check(value: unknown): In;
  /** Returns `undefined` for a message that must never be dropped. */
  lossyKindOf(message: Out): LossyKind | undefined;
  /** Makes the message with the counts of dropped messages; undefined if this direction never drops any. */
  dropped(counts: Readonly<Record<LossyKind, number>>): Out | undefined;
}

const nothingLossy = { lossyKindOf: () => undefined, dropped: () => undefined };

/** The messages between two processes: the codec of each end. */
export interface Language<Down, Up> {
  /** The orchestrator's end. */
  readonly parent: Codec<Down, Up>;
  readonly child: Codec<Up, Down>;
}

export const agentLanguage: Language<ToAgent, FromAgent> = {
  parent: { ...codecOf(checkToAgent, checkFromAgent), ...nothingLossy },
  child: {
    ...codecOf(checkFromAgent, checkToAgent),
    lossyKindOf,
    dropped: (counts) => ({ type: 'dropped', counts }),
  },
};

export const connectorLanguage: Language<ToConnector, FromConnector> = {
  parent: {
    ...codecOf(checkToConnector, checkFromConnector),
    lossyKindOf: ({ type }) => (type === 'ask.delta' ? 'delta' : undefined),
    dropped: (counts) => ({ type: 'dropped', counts }),
  },
  child: {
    ...codecOf(checkFromConnector, checkToConnector),
    lossyKindOf,
    dropped: (counts) => ({ type: 'dropped', counts }),
  },
};

export const keeperLanguage: Language<ToKeeper, FromKeeper> = {
  parent: { ...codecOf(checkToKeeper, checkFromKeeper), ...nothingLossy },
  child: {
    ...codecOf(checkFromKeeper, checkToKeeper),
    lossyKindOf,
    dropped: (counts) => ({ type: 'dropped', counts }),
  },
};

function codecOf<Out extends { readonly type: string }, In>(checkOut: Check<Out>, checkIn: Check<In>) {
  const check = (value: unknown): In => checked(checkIn, value, typeOf(value));
  return {
    encode: (message: Out): string => JSON.stringify(checked(checkOut, message, message.type)),
    decode: (frame: string): In => check(parseFrame(frame)),
    check,
  };
}

export function lossyKindOf({ type }: { readonly type: string }): LossyKind | undefined {
  return type === 'delta' || type === 'log' || type === 'runtime.event' ? type : undefined;
}

export function parseFrame(frame: string): unknown {
  try {
    return JSON.parse(frame);
  } catch (error) {
    throw new GoondanError('E_IPC_FRAME', 'A frame is not JSON.', { cause: error });
  }
}

export function checked<Value>(check: Check<Value>, value: unknown, type: string): Value {
  try {
    return check(value);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new GoondanError('E_IPC_FRAME', `A frame "${type}" is malformed: ${error.message}.`, { cause: error });
  }
}

/** Returns the message type, for an error text only. */
function typeOf(value: unknown): string {
  const type: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'type') : undefined;
  return typeof type === 'string' ? type.slice(0, 60) : '?';
}

/** Messages from a keeper process to the orchestrator. */
import { extensionStatus } from './check/extension-status.ts';
import { frameError } from './check/frame-error.ts';
import { count, oneByField } from './check/shape.ts';
import { logLine } from './check/log-line.ts';
import { droppedCounts } from './from-agent.ts';

export const checkFromKeeper = oneByField('type', {
  /** The keeper listens at its socket. */
  ready: () => ({}),
  /** The keeper cannot start, or cannot continue, and exits. */
  failed: () => ({ error: frameError }),
  /** The state of the connection that it keeps. */
  status: () => ({ status: extensionStatus }),
  log: () => ({ line: logLine }),
  pong: () => ({ n: count }),
  /** The last message. */
  drained: () => ({}),
  /** The channel itself makes this message. */
  dropped: () => ({ counts: droppedCounts }),
});

export type FromKeeper = ReturnType<typeof checkFromKeeper>;

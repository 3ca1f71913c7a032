/** The parts that the control socket and a control port have in common. */
import { GoondanError } from '@goondan/types';
import { type Clock, systemClock, waitAtMost } from '../../ports/clock.ts';
import { BodyRoom } from './body-room.ts';
import type { ControlHost } from './control-host.ts';
import { controlLimits } from './control-limits.ts';
import { noticeEncoder } from './event-stream.ts';
import { OpenRequests } from './open-requests.ts';

export interface HostOptions {
  readonly limits?: Partial<typeof controlLimits>;
  readonly clock?: Clock;
  /** Returns the bytes that all files of one input may have together; none when absent. */
  readonly fileBytes?: () => number;
  /** Receives internal errors, which are not sent to the client. */
  readonly report?: (error: unknown, what: string) => void;
}

/** The parts of a host without its swarm. */
export interface SharedHost extends Omit<ControlHost, 'swarm' | 'open'> {
  readonly open: OpenRequests;
}

/** Makes what all requests of one server share. `pending` returns Bun's number of open requests. */
export function openHost(options: HostOptions, pending: () => number): SharedHost {
  const { clock = systemClock, report = () => undefined } = options;
  const limits = { ...controlLimits, ...options.limits };
  const fileBytes = options.fileBytes ?? (() => 0);
  return {
    limits,
    clock,
    open: new OpenRequests(),
    longestDelivery: () => limits.longestDelivery + inBase64(fileBytes()),
    bodies: new BodyRoom(() => limits.mostBodyBytes + INPUTS_WITH_FILES * inBase64(fileBytes())),
    streams: new Map(),
    encodeNotice: noticeEncoder(),
    checkRoom: () => checkRoom(pending(), limits),
    report,
  };
}

/** The inputs with as many files as possible that are read at a time. */
const INPUTS_WITH_FILES = 2;

function inBase64(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Ends all streams and waiting requests, and then the server. */
export async function closeServer(
  { open, clock, limits }: Pick<SharedHost, 'open' | 'clock' | 'limits'>,
  server: { stop(closeActiveConnections?: boolean): Promise<void> },
): Promise<void> {
  open.closeAll();
  await waitAtMost(clock, limits.closeMs, server.stop());
  await server.stop(true);
}

/**
 * Rejects a request above the limit. Bun's own count of open requests is used, because Bun knows when a connection is
 * really closed. The count includes this request.
 */
function checkRoom(pending: number, { mostOpen }: typeof controlLimits): void {
  if (pending <= mostOpen) return;
  throw new GoondanError('E_CONTROL_FULL', `${mostOpen} streams and questions are open.`, { retryable: true });
}

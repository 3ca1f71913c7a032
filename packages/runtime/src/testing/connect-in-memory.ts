/** Connects both ends of a channel in one process, for tests. Everything except the socket is real. */
import type { Clock } from '../ports/clock.ts';
import { Channel } from '../ipc/channel/channel.ts';
import type { FrameFiles } from '../ipc/channel/frame-files.ts';
import { memoryFrameFiles } from './memory-frame-files.ts';
import { memoryWires } from './memory-wire.ts';
import type { Language } from '../ipc/codec.ts';
import type { ChannelLimits } from '../ipc/limits.ts';

export interface InMemoryOptions {
  readonly limits?: Partial<ChannelLimits>;
  readonly clock?: Clock;
  /** The number of bytes that may be on their way at once. */
  readonly room?: number;
  /** Files for messages that are too long for a frame. */
  readonly files?: FrameFiles;
}

export function connectInMemory<Down, Up>(
  { parent, child }: Language<Down, Up>,
  { room, files = memoryFrameFiles(), ...options }: InMemoryOptions = {},
): [Channel<Down, Up>, Channel<Up, Down>] {
  const [parentWire, childWire] = memoryWires(room);
  return [
    new Channel({ wire: parentWire, codec: parent, files, ...options }),
    new Channel({ wire: childWire, codec: child, files, ...options }),
  ];
}

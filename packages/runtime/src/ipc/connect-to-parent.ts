/** Opens the channel of a child process. */
import { Channel } from './channel/channel.ts';
import { frameFolder } from './channel/frame-files.ts';
import { CHANNEL_DESCRIPTOR, socketWire } from './channel/socket-wire.ts';
import type { Language } from './codec.ts';

/** Opens the channel. `folder`: the folder for long messages, which the parent passes as the first argument. */
export function connectToParent<Down, Up>({ child }: Language<Down, Up>, folder: string): Channel<Up, Down> {
  const channel = new Channel({ wire: socketWire(CHANNEL_DESCRIPTOR), codec: child, files: frameFolder(folder) });
  process.on('exit', () => channel.flush());
  return channel;
}

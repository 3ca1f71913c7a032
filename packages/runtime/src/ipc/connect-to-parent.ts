/** A child's end of its channel. */
import { type Channel, openChannel } from './channel/channel.ts';
import { frameFolder } from './channel/frame-files.ts';
import { CHANNEL_DESCRIPTOR, socketWire } from './channel/socket-wire.ts';
import type { Codec } from './codec.ts';

/** `folder` is where long messages go: the process that starts a child gives it as the first argument. */
export function connectToParent<Out, In>(codec: Codec<Out, In>, folder: string): Channel<Out, In> {
  return openChannel({ wire: socketWire(CHANNEL_DESCRIPTOR), codec, files: frameFolder(folder) });
}

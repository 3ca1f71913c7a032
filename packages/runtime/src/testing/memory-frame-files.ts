import { GoondanError } from '@goondan/types';
import { type FrameFiles, tooLong } from '../ipc/channel/frame-files.ts';
import { newUuid } from '../ports/ids.ts';

/** Makes frame files in memory, for two channels in one process. */
export function memoryFrameFiles(): FrameFiles {
  const files = new Map<string, Uint8Array>();
  return {
    store(message) {
      const name = `${newUuid()}.json`;
      files.set(name, message);
      return name;
    },
    take(name, longest) {
      const message = files.get(name);
      files.delete(name);
      if (message === undefined) throw new GoondanError('E_IPC_FRAME', 'A frame names a file that does not exist.');
      if (message.length > longest) throw tooLong(message.length, longest);
      return message;
    },
    remove: () => files.clear(),
  };
}

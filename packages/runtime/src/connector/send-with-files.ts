import type { FileUploads } from '../ipc/connector-files.ts';
import type { HeardEvent } from '../ipc/from-connector.ts';

/** Uploads the files of an event, then sends it. The uploads are released when the event is accepted or refused. */
export type SendWithFiles = <Value>(event: HeardEvent, send: (stored: HeardEvent) => Promise<Value>) => Promise<Value>;

export function sendWithFiles(uploads: Pick<FileUploads, 'upload'>): SendWithFiles {
  return async (event, send) => {
    if (event.content === undefined) return send(event);
    const uploaded = await uploads.upload(event.content);
    return send({ ...event, content: uploaded.content }).finally(() => uploaded.release());
  };
}

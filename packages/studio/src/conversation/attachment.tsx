import type { FileView } from '@goondan/cli/studio';
import { createContext, useContext, useEffect, useState } from 'react';
import { addressOf, getFrom } from '../server/ask-server.ts';
import type { Piece } from './message-parts.ts';

/** The workspace whose files are shown; undefined where there is none. */
export const FilePlace = createContext<string | undefined>(undefined);

/** An image as a picture, and any other file as its name. */
export function Attachment({ piece }: { readonly piece: Extract<Piece, { type: 'attachment' }> }) {
  const { name, image } = piece;
  const workspaceId = useContext(FilePlace);
  const [source, setSource] = useState<string>();
  useEffect(() => {
    if (workspaceId === undefined || image === undefined) return;
    const left = new AbortController();
    getFrom<FileView>(addressOf(workspaceId, 'file', { digest: image.digest }), left.signal)
      .then(({ data }) => setSource(`data:${image.mediaType};base64,${data}`))
      // The name is shown instead of a picture that cannot be read.
      .catch(() => undefined);
    return () => left.abort();
  }, [workspaceId, image?.digest, image?.mediaType]);
  if (source === undefined) return <p className="attachment">📎 {name}</p>;
  return <img className="picture" src={source} alt={name} title={name} />;
}

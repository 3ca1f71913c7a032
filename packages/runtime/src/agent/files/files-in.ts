import type { ContentPart, ModelMessage } from '@goondan/types';

/** A part that is an image or a file. */
export type FileLike = Exclude<ContentPart, { type: 'text' }>;

/** Returns the images and files of a message, those in results of tools included. */
export function filesIn({ content }: ModelMessage): readonly FileLike[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part): readonly FileLike[] => {
    if (part.type === 'image' || part.type === 'file') return [part];
    if (part.type !== 'tool-result' || part.output.type !== 'content') return [];
    return part.output.value.filter((each) => each.type !== 'text');
  });
}

import { digestOfReference, type ModelMessage, sourceOfPart } from '@goondan/types';

export type Part = Extract<ModelMessage['content'], readonly unknown[]>[number];

/** Returns the digests of the files to which a message refers. */
export function referencesIn({ content }: ModelMessage): readonly string[] {
  return typeof content === 'string' ? [] : referencesOf(content);
}

/** Returns the digests of the files to which parts refer. */
export function referencesOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part): string | readonly string[] => {
    if (part.type === 'image' || part.type === 'file') return digestOfReference(sourceOfPart(part)) ?? [];
    return part.type === 'tool-result' && part.output.type === 'content' ? referencesOf(part.output.value) : [];
  });
}

import { describeFile, type FilePart, type ImagePart } from '@goondan/types';

/** Returns the text that a model gets in place of a file that its provider does not take. */
export function describeUnfit(part: ImagePart | FilePart): string {
  return `${describeFile(part)} (this model cannot read files of this type)`;
}

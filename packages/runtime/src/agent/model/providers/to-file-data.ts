/**
 * Converts a file of a message (one string: a reference, base64, a data URL or a URL) to the tagged data that providers
 * take. A URL is passed on unchanged: the provider fetches it. This process never fetches it, so a message cannot make the
 * process connect to an arbitrary address.
 */
import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import { GoondanError } from '@goondan/types';
import { sniffImageType } from '../../../files/detect-media-type.ts';
import { readSource } from '../../../files/read-source.ts';
import { type LoadedFiles, noFiles } from './load-files.ts';

/**
 * Converts the data. The type detected in the bytes wins over the type of the data URL, which wins over `declaredType`.
 */
export function toFileData(
  source: string,
  declaredType: string,
  files: LoadedFiles = noFiles,
): { data: Extract<LanguageModelV4FilePart['data'], { type: 'data' | 'url' }>; mediaType: string } {
  const read = readSource(source);
  switch (read.kind) {
    case 'url':
      return { data: { type: 'url', url: new URL(source) }, mediaType: declaredType };
    case 'bytes':
      return inlineData(read.base64, read.mediaType ?? declaredType);
    case 'reference': {
      const base64 = files.get(read.digest);
      if (base64 === undefined) throw new GoondanError('E_FILE_UNKNOWN', `The file ${read.digest} was not loaded.`);
      return inlineData(base64, declaredType);
    }
    case 'malformed':
      throw new GoondanError('E_MESSAGE_INVALID', `A file of a message ${read.problem}.`);
  }
}

function inlineData(base64: string, mediaType: string) {
  return { data: { type: 'data' as const, data: base64 }, mediaType: sniffImageType(base64) ?? mediaType };
}

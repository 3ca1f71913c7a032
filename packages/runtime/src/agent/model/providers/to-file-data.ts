/**
 * Converts a file of a message (one string: base64, a data URL or a URL) to the tagged data that providers take. A URL
 * is passed on unchanged: the provider fetches it. This process never fetches it, so a message cannot make the process
 * connect to an arbitrary address.
 */
import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import { GoondanError } from '@goondan/types';
import { sniffImageType } from './sniff-image-type.ts';

export interface FileData {
  readonly data: Extract<LanguageModelV4FilePart['data'], { type: 'data' | 'url' }>;
  readonly mediaType: string;
}

/**
 * Converts the data. The type detected in the bytes wins over the type of the data URL, which wins over `declaredType`.
 */
export function toFileData(source: string, declaredType: string): FileData {
  if (source.startsWith('data:')) {
    const { base64, mediaType } = readDataUrl(source);
    return inlineData(base64, mediaType || declaredType);
  }
  // Base64 has no colon, so a text that has one and parses as a URL is a URL.
  const url = source.includes(':') ? URL.parse(source) : null;
  if (url !== null) return { data: { type: 'url', url }, mediaType: declaredType };
  return inlineData(source, declaredType);
}

function inlineData(base64: string, mediaType: string): FileData {
  return { data: { type: 'data', data: base64 }, mediaType: sniffImageType(base64) ?? mediaType };
}

function readDataUrl(source: string): { base64: string; mediaType: string } {
  const comma = source.indexOf(',');
  if (comma === -1) {
    throw new GoondanError(
      'E_MESSAGE_INVALID',
      `A file of a message is a data URL without data: "${source.slice(0, 60)}".`,
    );
  }
  const [mediaType = '', ...settings] = source.slice('data:'.length, comma).split(';');
  const payload = source.slice(comma + 1);
  if (settings.includes('base64')) return { base64: payload, mediaType };
  return { base64: Buffer.from(decodeURIComponent(payload)).toString('base64'), mediaType };
}

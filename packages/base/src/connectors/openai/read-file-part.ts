/** Reads the images and files in a chat message: `image_url`, `input_audio` and `file`. */
import { createHash } from 'node:crypto';
import type { InputPart } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { isObject } from '../../json/is-object.ts';

export type Part = Readonly<Record<string, unknown>> & { readonly type: string };

const audioTypes: Readonly<Record<string, string>> = { wav: 'audio/wav', mp3: 'audio/mpeg' };

/** Reads a part that is not text. Throws a `Refusal` with 400 if the part is wrong, or of an unknown type. */
export function readFilePart(part: Part): InputPart {
  const { type } = part;
  if (type === 'image_url') {
    const { url } = isObject(part.image_url) ? part.image_url : {};
    return { type: 'image', image: checkSource(url, 'image_url.url') };
  }
  if (type === 'input_audio') {
    const { data, format } = isObject(part.input_audio) ? part.input_audio : {};
    const mediaType = typeof format === 'string' && Object.hasOwn(audioTypes, format) ? audioTypes[format] : undefined;
    if (mediaType === undefined) throw invalid('`input_audio.format` must be wav or mp3.');
    return { type: 'file', data: checkSource(data, 'input_audio.data'), mediaType };
  }
  if (type === 'file') {
    const { file_data: data, filename, file_id: id } = isObject(part.file) ? part.file : {};
    if (id !== undefined) throw invalid('A `file_id` names a file at OpenAI. Send `file_data`.');
    const named = typeof filename === 'string' && filename !== '' ? { filename } : {};
    return { type: 'file', data: checkSource(data, 'file.file_data'), ...named };
  }
  throw invalid(`The user's messages may contain text, images, audio and files, not ${type}.`);
}

/** Returns a short text in place of a part: its type, and a digest of its contents. */
export function markOf(part: Part): string {
  const { type, ...contents } = part;
  const digest = createHash('sha256').update(JSON.stringify(contents)).digest('hex').slice(0, 12);
  return `[${type} ${digest}]`;
}

function checkSource(source: unknown, field: string): string {
  if (typeof source !== 'string' || source === '') throw invalid(`\`${field}\` must be a text.`);
  // References to stored files are for the inside of a swarm.
  if (source.startsWith('blob:')) throw invalid(`\`${field}\` must be base64, a data URL or a URL.`);
  return source;
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'E_HTTP_BODY', message);
}

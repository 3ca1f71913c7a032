/** Explains why a file is not sent to a provider: by the rules of its table, or because its package refuses it. */
import { describeFile, GoondanError, type ModelMessage, sourceOfPart } from '@goondan/types';
import { isPictureType } from '../../../files/detect-media-type.ts';
import { readSource } from '../../../files/read-source.ts';
import { type FileLike, filesIn } from '../../files/files-in.ts';
import { findUnfitInput, type PromptFiles } from './to-prompt.ts';

/** **Errors** — `E_MODEL_FILE` if the newest input has a stored file that the provider does not take. */
export function refuseUnfitInput(messages: readonly ModelMessage[], files: PromptFiles, label: string): void {
  const unfit = findUnfitInput(messages, files);
  if (unfit === undefined) return;
  const { mediaType = 'image' } = unfit;
  const problem = isPictureType(mediaType)
    ? 'its bytes are not a picture in the format PNG, JPEG, GIF or WebP'
    : 'the provider takes no files of this type';
  throw new GoondanError('E_MODEL_FILE', `${label} does not take ${describeFile(unfit)} (${mediaType}): ${problem}.`);
}

/** Explains an error of the package, which refuses a file before anything is sent. Returns an error that names the file and the model; `undefined` when the failure is not about a file. */
export function findUnfitFile(
  error: unknown,
  messages: readonly ModelMessage[],
  label: string,
): GoondanError | undefined {
  if (!(error instanceof Error) || error.name !== 'AI_UnsupportedFunctionalityError') return undefined;
  const files = messages.flatMap((message) => filesIn(message));
  const told = error.message.toLowerCase();
  const isAboutFiles = /\b(?:media type|file|files|pdf|audio|image)\b/.test(told);
  if (files.length === 0 || !isAboutFiles) return undefined;
  const isUrl = /\burls?\b/.test(told);
  const fits = ({ mediaType = 'image' }: FileLike) => told.includes(mediaType.toLowerCase());
  const unfit =
    files.findLast(fits) ??
    files.findLast((file) => isUrl && readSource(sourceOfPart(file)).kind === 'url') ??
    files.at(-1);
  const name = unfit === undefined ? 'a file' : `${describeFile(unfit)} (${unfit.mediaType ?? 'image'})`;
  return new GoondanError('E_MODEL_FILE', `${label} does not take ${name}: ${error.message}`);
}

/** Explains the refusal of a provider's package to send a file. The package refuses before anything is sent. */
import { describeFile, GoondanError, type ModelMessage, sourceOfPart } from '@goondan/types';
import { readSource } from '../../../files/read-source.ts';
import { type FileLike, filesIn } from '../../files/files-in.ts';

/** Returns an error that names the file and the model; `undefined` when the failure is not about a file. */
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

/**
 * Brings the parts of an input into the store: the bytes go to `Blobs`, and the parts get references. Everything is
 * checked before the first byte is stored. This is the only way for files of an input, whichever door they came through.
 */
import { type AgentAddress, type ContentPart, sourceOfPart } from '@goondan/types';
import { type FileLimits, checkSizes, tooLarge } from '../files/check-content.ts';
import { readSource } from '../files/read-source.ts';
import { toReference } from '../files/to-reference.ts';
import type { Blobs } from './blobs.ts';
import { unknownFile } from './unknown-file.ts';

export interface TakenContent {
  readonly content: readonly ContentPart[];
  readonly digests: readonly string[];
}

/**
 * Stores the bytes for a conversation. The parts are checked ones. `beforeStoring` gets the parts as they will be, and may
 * refuse them. **Errors** — `E_FILE_INVALID`, `E_FILE_SIZE`, `E_FILE_UNKNOWN`; those of `beforeStoring` and of the store.
 */
export async function takeContent(
  blobs: Pick<Blobs, 'put' | 'use' | 'size'>,
  owner: AgentAddress,
  content: readonly ContentPart[],
  limits: FileLimits,
  beforeStoring: (content: readonly ContentPart[]) => Promise<void> = async () => undefined,
): Promise<TakenContent> {
  const sized = await Promise.all(content.map((part) => withSize(blobs, part, limits)));
  checkSizes(sized, limits);
  const read = sized.map((part, index) => toReference(part, `content[${index}]`));
  const taken = Object.freeze(read.map(({ part }) => part));
  await beforeStoring(taken);
  const digests: string[] = [];
  for (const { digest, bytes } of read) {
    if (digest === undefined || digests.includes(digest)) continue;
    if (bytes === undefined) await blobs.use(owner, [digest]);
    else await blobs.put(owner, bytes);
    digests.push(digest);
  }
  return { content: taken, digests };
}

async function withSize(blobs: Pick<Blobs, 'size'>, part: ContentPart, limits: FileLimits): Promise<ContentPart> {
  if (part.type === 'text') return part;
  const source = readSource(sourceOfPart(part));
  if (source.kind !== 'reference') return part;
  const size = await blobs.size(source.digest);
  if (size === undefined) throw unknownFile(source.digest);
  if (size > limits.maxFileBytes) throw tooLarge(part.filename ?? 'A file', size, limits.maxFileBytes);
  return Object.freeze({ ...part, size });
}

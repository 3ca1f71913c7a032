/** Examines a changeset that is given as texts, for tests. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { examineChangeset, type ExaminedBundle } from './examine-changeset.ts';
import type { AddedFile, Examination, ExaminationRequest } from '../../examination.ts';
import { sha256 } from '../../../json/sha256.ts';
import type { FileEdit } from '../../../workspace/changesets/changeset-record.ts';

/** A folder in memory where the system has one: hundreds of copies on a disk take many times as long. */
const TEMPORARY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** The new texts of files by path; `null` deletes a file. */
export type EditedTexts = Readonly<Record<string, string | null>>;

/** Examines the changeset in a trial folder of its own. Everything is allowed unless `request` says otherwise. */
export async function examineTexts(
  source: ExaminedBundle,
  texts: EditedTexts,
  {
    addedFiles = [],
    ...request
  }: Partial<Omit<ExaminationRequest, 'addedFiles'>> & {
    /** Files of earlier changesets; a path stands for the file as it is now. */
    readonly addedFiles?: readonly (string | AddedFile)[];
  } = {},
): Promise<Examination> {
  const trialFolder = mkdtempSync(join(TEMPORARY, 'goondan-trial-'));
  try {
    const usual = {
      trialFolder,
      allow: ['**'],
      addedTools: [],
      addedFiles: addedFiles.map((file) => digestFile(source, file)),
    };
    return await examineChangeset(source, { ...usual, edits: editsOf(texts), ...request });
  } finally {
    rmSync(trialFolder, { recursive: true, force: true });
  }
}

function digestFile({ bundleFolder }: ExaminedBundle, path: string | AddedFile): AddedFile {
  if (typeof path !== 'string') return path;
  const file = join(bundleFolder, path);
  return { path, digest: existsSync(file) ? sha256(readFileSync(file)) : '' };
}

function editsOf(texts: EditedTexts): FileEdit[] {
  return Object.entries(texts).map(([path, text]) => {
    const content = text === null ? null : new TextEncoder().encode(text);
    return { path, before: null, after: content && sha256(content), content };
  });
}

/** Writes the texts into the bundle itself. */
export function writeTexts(bundleFolder: string, texts: EditedTexts): void {
  for (const [path, text] of Object.entries(texts)) {
    const file = join(bundleFolder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (text === null) rmSync(file);
    else writeFileSync(file, text);
  }
}

/** The format of a state root: `format.json` has one number for all files below it. This version knows one format. */
import { GoondanError } from '@goondan/types';
import { codedFs } from '../../ports/coded-fs.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';

export const FORMAT_VERSION = 1;

interface FormatPlace {
  readonly stateRoot: string;
  readonly fs?: Fs;
}

/** Refuses a state root that another version wrote. **Errors** — `E_STORE_FORMAT`; those of the disk. */
export async function refuseOtherFormat({ stateRoot, fs = systemFs }: FormatPlace): Promise<void> {
  const found = await readFormat(codedFs(fs), stateRoot);
  if (found === undefined || found === FORMAT_VERSION) return;
  if (found === 'unknown') throw damaged(stateRoot);
  const known = `this version of Goondan reads and writes format ${FORMAT_VERSION}`;
  throw new GoondanError('E_STORE_FORMAT', `The state root ${stateRoot} has format ${found}; ${known}.`);
}

function damaged(stateRoot: string): GoondanError {
  const message = `${formatPath(stateRoot)} is damaged: it is not JSON with a number \`formatVersion\`.`;
  const suggestion =
    `If this version of Goondan wrote the state root, write ${ownText.trim()} into the file, or restore a backup. ` +
    'Otherwise use the version that wrote it, or choose another folder with `--state-root`.';
  return new GoondanError('E_STORE_FORMAT', message, { suggestion });
}

/** Writes the format of a state root that has none yet. Several processes may do it at the same time. */
export async function writeFormat({ stateRoot, fs = systemFs }: FormatPlace): Promise<void> {
  const coded = codedFs(fs);
  const hasFormat = async () => (await readFormat(coded, stateRoot)) !== undefined;
  const bytes = Buffer.from(ownText);
  if ((await hasFormat()) || (await coded.createNew(formatPath(stateRoot), bytes)) || (await hasFormat())) return;
  // A loss of power has left an empty file, or a part of one.
  await coded.remove(formatPath(stateRoot));
  await coded.createNew(formatPath(stateRoot), bytes);
}

const ownText = `${JSON.stringify({ formatVersion: FORMAT_VERSION })}\n`;

/** Returns the number; `undefined` when there is no file, or only the beginning of one. */
async function readFormat(fs: Fs, stateRoot: string): Promise<number | 'unknown' | undefined> {
  const text = new TextDecoder().decode(await fs.read(formatPath(stateRoot))).replaceAll('\0', '');
  if (text !== ownText && ownText.startsWith(text)) return undefined;
  try {
    const { formatVersion } = JSON.parse(text);
    return typeof formatVersion === 'number' ? formatVersion : 'unknown';
  } catch {
    return 'unknown';
  }
}

function formatPath(stateRoot: string): string {
  return `${stateRoot}/format.json`;
}

/**
 * The manifest of a backup, `backup.jsonl`. It is written last, so a folder without a manifest is not a backup. The first line is
 * the head, each further line is a folder or a file, and the last line has the number and the checksum of the others.
 */
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { FORMAT_VERSION } from '../layout/store-format.ts';
import { conversations, isConversation, isKept } from './backup-plan.ts';
import { damagedBackup } from './backup-errors.ts';

export interface BackupHead {
  /** The version of Goondan that made the backup. */
  readonly version: string;
  /** The name of the swarm. */
  readonly swarm: string;
  /** The number of conversations. */
  readonly conversations: number;
  /** Every input that was acknowledged before this time is in the backup. */
  readonly startedAt: string;
  /** The damaged conversations and unreadable files, one line of text for each. */
  readonly problems: readonly string[];
}

export interface BackedUpFile {
  /** The path in the folder of the workspace. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** True if the owner of the file may execute it. */
  readonly isExecutable?: true;
}

export interface BackupManifest extends BackupHead {
  readonly folders: readonly string[];
  readonly files: readonly BackedUpFile[];
}

const FORMAT = 'goondan-backup';
const LONGEST_PATH = 4096;
const DIGEST = /^[0-9a-f]{64}$/;

/** The size of the longest manifest that is read. It has room for more than a million files. */
export const LONGEST_MANIFEST = 512 * 1024 * 1024;

export function encodeManifest({ folders, files, ...head }: BackupManifest): Uint8Array {
  const first = { format: FORMAT, formatVersion: FORMAT_VERSION, ...head };
  const lines = [
    first,
    ...folders.map((folder) => ({ folder })),
    ...files.map(({ path, ...rest }) => ({ file: path, ...rest })),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return Buffer.from(`${text}${JSON.stringify({ lines: lines.length, sha256: sha256(text) })}\n`);
}

/**
 * Decodes and checks a manifest. `path`: its path, for errors. **Errors** — `E_BACKUP_FORMAT` when another version
 * wrote the backup, `E_BACKUP_DAMAGED`.
 */
export function decodeManifest(path: string, bytes: Uint8Array): BackupManifest {
  const text = new TextDecoder().decode(bytes);
  const [first = '', ...rest] = text.split('\n');
  const head = parseLine(first);
  if (head?.['format'] !== FORMAT) throw damagedBackup(path, 'is not the manifest of a backup.');
  refuseOtherFormat(path, head);
  const last = rest.at(-2) ?? '';
  const end = parseLine(last);
  const body = text.slice(0, text.length - last.length - 1);
  const isWhole = text.endsWith('\n') && end?.['lines'] === rest.length - 1 && end['sha256'] === sha256(body);
  if (!isWhole) {
    throw damagedBackup(path, 'is damaged: its checksum does not match.');
  }
  const { folders, files } = readEntries(path, rest.slice(0, -2));
  // Safe: the checksum was verified, and encodeManifest wrote the line.
  const { version, swarm, conversations: count, startedAt, problems } = head as unknown as BackupHead;
  return { version, swarm, conversations: count, startedAt, problems, folders, files };
}

function refuseOtherFormat(path: string, { formatVersion, version }: JsonObject): void {
  if (formatVersion === FORMAT_VERSION) return;
  const known = `this version of Goondan reads format ${FORMAT_VERSION}`;
  const maker = typeof version === 'string' ? ` Goondan ${version} made it.` : '';
  const message = `${path} is a backup in format ${JSON.stringify(formatVersion)}; ${known}.${maker}`;
  throw new GoondanError('E_BACKUP_FORMAT', message);
}

function readEntries(path: string, lines: readonly string[]) {
  const folders: string[] = [];
  const files: BackedUpFile[] = [];
  const names = new Set<string>();
  for (const line of lines) {
    const { folder, file, bytes, sha256: digest, isExecutable } = parseLine(line) ?? {};
    const name = folder ?? file;
    if (typeof name !== 'string' || !isBackupPath(name) || names.has(name)) {
      throw damagedBackup(path, `names a path that no backup has: ${JSON.stringify(name)}.`);
    }
    names.add(name);
    if (folder !== undefined) folders.push(name);
    else if (isSize(bytes) && typeof digest === 'string' && DIGEST.test(digest)) {
      files.push({ path: name, bytes, sha256: digest, ...(isExecutable === true && { isExecutable }) });
    } else throw damagedBackup(path, `has no size or checksum for ${JSON.stringify(name)}.`);
  }
  return { folders, files };
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Returns true if the path stays in the folder of the workspace, and a backup can contain it. A backslash and a line break
 * are characters of a name.
 */
export function isBackupPath(path: string): boolean {
  const [top = '', second] = path.split('/');
  if (Buffer.byteLength(path) > LONGEST_PATH || path.includes('\0')) return false;
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) return false;
  return isKept(top) && (top !== conversations || second === undefined || isConversation(second));
}

function parseLine(line: string): JsonObject | undefined {
  try {
    const parsed = JSON.parse(line) as JsonValue;
    return parsed && typeof parsed === 'object' && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

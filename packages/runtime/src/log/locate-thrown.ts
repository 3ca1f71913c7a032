/**
 * Finds the place in the source file where bundle code threw an error, and makes a stack for the author of the bundle.
 * Bun reports positions in the TypeScript source, so no source map is needed.
 *
 * 1. Frames of the bundle come first, frames of other packages follow, and frames of Goondan are counted in one line.
 * 2. The result has no absolute path of the bundle. Secrets are masked before anything is cut. All lengths are bounded.
 * 3. Any value can be thrown, so this code never throws itself.
 */
import { type CodePlace, placeText } from '@goondan/types';
import { readField } from '../json/read-field.ts';
import { CodeOwners, type CodeOwner } from './code-owners.ts';
import { gatheredErrors } from './gathered-errors.ts';
import type { Mask } from './mask-secrets.ts';
import { readStack, type StackFrame, toPlace } from './read-stack.ts';

export interface ThrownOrigin {
  /**
   * The place of the innermost frame of bundle code, or else of a package that the bundle uses. Absent when a library
   * of Goondan called the package or was called by it, because then the bundle made no mistake.
   */
  readonly place?: CodePlace;
  /** The stack, one line per frame; absent when it has only frames of Goondan. */
  readonly stack?: string;
}

export type LocateThrown = (thrown: unknown) => ThrownOrigin;

/** The maximum number of errors read for one thrown value: the value itself, its causes, and the errors inside it. */
const MOST_ERRORS = 5;
/** The maximum number of frames listed for one thrown value. */
const MOST_FRAMES = 20;
/** The maximum number of characters of a stack. */
const LONGEST_STACK = 4_096;
const LONGEST_TITLE = 500;

/**
 * The value of `Error.stackTraceLimit` in processes that run bundle code. It is high, because many frames of a library
 * may come before the frames of the bundle.
 */
export const FRAMES_KEPT = 50;

/**
 * Makes the function that locates thrown values. `folders`: the folders of the bundle's code. Paths in the result are
 * relative to the first of these folders that contains the file.
 */
export function locateIn(folders: readonly string[], mask: Mask): LocateThrown {
  const known = new CodeOwners(folders);
  const shorten = (text: string) => known.shorten(mask(text));
  return (thrown) => {
    const found = listErrors(thrown)
      .map((error) => ({ error, frames: framesOf(error).flatMap((frame) => placeFrame(frame, known)) }))
      .filter(({ frames }) => frames.some(({ owner }) => owner !== 'goondan'));
    if (found.length === 0) return {};
    const place = found.map(({ frames }) => placeOf(frames)).find((each) => each !== undefined);
    const text = found.map(({ error, frames }) => [titleOf(error, shorten), ...describeFrames(frames)].join('\n'));
    const stack = cutLines(mask(text.join('\ncaused by ')));
    return place === undefined ? { stack } : { place: { ...place, file: mask(place.file) }, stack };
  };
}

function listErrors(thrown: unknown): readonly unknown[] {
  const listed: unknown[] = [thrown];
  for (let index = 0; index < listed.length && listed.length < MOST_ERRORS; index++) {
    const inside = [readField(listed[index], 'cause'), ...gatheredErrors(listed[index])];
    listed.push(...inside.filter((error) => typeof error === 'object' && error !== null && !listed.includes(error)));
  }
  return listed.slice(0, MOST_ERRORS);
}

interface PlacedFrame {
  readonly owner: CodeOwner;
  readonly name: string;
  readonly place: CodePlace;
}

function framesOf(error: unknown): readonly StackFrame[] {
  const position = positionOf(error);
  return position === undefined ? readStack(error) : [position];
}

/**
 * Returns the place of a syntax error, as Bun reports it. For a missing module, finds the import in the importing file.
 */
function positionOf(error: unknown): StackFrame | undefined {
  const position = readField(error, 'position');
  const at = toPlace(readField(position, 'file'), readField(position, 'line'), readField(position, 'column'));
  if (at !== undefined) return { name: '', at };
  const [importer, specifier] = [readField(error, 'referrer'), readField(error, 'specifier')];
  if (typeof importer !== 'string' || typeof specifier !== 'string') return undefined;
  return { name: '', at: { file: importer, ...findImport(importer, specifier) } };
}

/** Finds the first line that contains the specifier in quotes; returns line 1 when none does. */
function findImport(file: string, specifier: string): Omit<CodePlace, 'file'> {
  try {
    const lines = process.getBuiltinModule('node:fs').readFileSync(file, 'utf8').split('\n');
    const columnIn = (text: string) => Math.max(text.indexOf(`'${specifier}'`), text.indexOf(`"${specifier}"`));
    const index = lines.findIndex((text) => columnIn(text) >= 0);
    if (index >= 0) return { line: index + 1, column: columnIn(lines[index] ?? '') + 1 };
  } catch {
    // The file was deleted, or cannot be read.
  }
  return { line: 1, column: 1 };
}

/** Adds the owner to a frame. Returns an empty list for a built-in frame, which does not help the author. */
function placeFrame({ name, at }: StackFrame, owners: CodeOwners): PlacedFrame[] {
  if (at === undefined) return [];
  const { owner, file } = owners.find(at.file);
  return [{ owner, name, place: { ...at, file } }];
}

function placeOf(frames: readonly PlacedFrame[]): CodePlace | undefined {
  const near = frames.slice(0, endOfNear(frames));
  const first = (wanted: CodeOwner) => near.find(({ owner }) => owner === wanted)?.place;
  return first('bundle') ?? (first('library') === undefined ? first('package') : undefined);
}

/**
 * Returns the index of the first frame of Goondan that called the throwing code. The frames after this index belong to
 * outer layers.
 */
function endOfNear(frames: readonly PlacedFrame[]): number {
  const start = frames.findIndex(({ owner }) => owner !== 'goondan');
  const length = frames.slice(start).findIndex(({ owner }) => owner === 'goondan');
  return length < 0 ? frames.length : start + length;
}

function describeFrames(frames: readonly PlacedFrame[]): string[] {
  const end = endOfNear(frames);
  const of = (part: readonly PlacedFrame[], ...owners: CodeOwner[]) =>
    part.filter(({ owner }) => owners.includes(owner));
  const others = [frames.slice(0, end), frames.slice(end)].flatMap((part) => [
    ...of(part, 'bundle'),
    ...of(part, 'package', 'library'),
  ]);
  return [
    ...others.slice(0, MOST_FRAMES).map(describeFrame),
    ...more(others.length - MOST_FRAMES, ''),
    ...more(of(frames, 'goondan').length, ' of goondan'),
  ];
}

function describeFrame({ name, place }: PlacedFrame): string {
  return name === '' ? `    at ${placeText(place)}` : `    at ${name} (${placeText(place)})`;
}

function more(count: number, whose: string): string[] {
  return count <= 0 ? [] : [`    … ${count} ${count === 1 ? 'frame' : 'frames'}${whose}`];
}

function titleOf(error: unknown, shorten: (text: string) => string): string {
  const text = (name: string) => {
    const value = readField(error, name);
    return typeof value === 'string' ? value : '';
  };
  const [name, message] = [text('name'), text('message')];
  const title = shorten(message.startsWith(`${name}:`) || name === '' ? message : `${name}: ${message}`);
  return title.length <= LONGEST_TITLE ? title : `${title.slice(0, LONGEST_TITLE).toWellFormed()}…`;
}

function cutLines(stack: string): string {
  if (stack.length <= LONGEST_STACK) return stack;
  const end = stack.lastIndexOf('\n', LONGEST_STACK);
  return `${stack.slice(0, end > 0 ? end : LONGEST_STACK).toWellFormed()}\n    …`;
}

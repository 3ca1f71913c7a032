/** Finds the owner of a source file, and a name for the file that does not reveal its folder on the machine. */
import { unlessThrows } from '../ports/unless-throws.ts';
import { readStack } from './read-stack.ts';

/**
 * `node:fs` and `node:path` are loaded only when something was thrown, because loading them earlier would slow down the
 * start of every process.
 */
const disk = () => process.getBuiltinModule('node:fs');
let pathModule: typeof import('node:path') | undefined;
const paths = () => (pathModule ??= process.getBuiltinModule('node:path'));

/**
 * The owner of code. `goondan`: the runtime. `library`: another package of Goondan that bundles use. `package`: any
 * other npm package.
 */
export type CodeOwner = 'bundle' | 'package' | 'library' | 'goondan';

export class CodeOwners {
  // Computed only when something was thrown.
  #known: { readonly own: string; readonly siblings: string; readonly folders: readonly string[] } | undefined;

  constructor(private readonly given: readonly string[]) {}

  /** Finds the owner of a file. The returned `file` is relative and uses `/`. */
  find(path: string): { readonly owner: CodeOwner; readonly file: string } {
    this.#known ??= lookUp(this.given);
    const { own, siblings, folders } = this.#known;
    if (isInside(own, path)) return { owner: 'goondan', file: named('@goondan/runtime', own, path) };
    const folder = folders.find((each) => isInside(each, path));
    const file = toSlashes(folder === undefined ? path : paths().relative(folder, path));
    const packed = /(?:^|\/)(node_modules\/(?!.*\/node_modules\/).*)$/.exec(file)?.[1];
    if (packed?.startsWith('node_modules/@goondan/')) return { owner: 'library', file: packed };
    if (packed !== undefined) return { owner: 'package', file: packed };
    if (folder !== undefined) return { owner: 'bundle', file };
    if (isInside(siblings, path)) return { owner: 'library', file: named('@goondan', siblings, path) };
    // The file belongs to a package that is linked from elsewhere.
    return { owner: 'package', file: toSlashes(paths().relative(folders[0] ?? siblings, path)) };
  }

  /** Makes absolute paths of the bundle in a text relative. */
  shorten(text: string): string {
    this.#known ??= lookUp(this.given);
    return this.#known.folders.reduce((shown, folder) => shown.replaceAll(`${folder}${paths().sep}`, ''), text);
  }
}

let runtimeFolder: string | undefined;

function findRuntimeFolder(): string {
  // The path is read from the stack and not from `import.meta`, for which a bundler writes the path of the source file
  // into the bundled file.
  const here = readStack(new Error('here'))[0]?.at?.file ?? '';
  return here.replace(/^(.*)[\\/](?:src|dist)[\\/].*$/, '$1');
}

function lookUp(given: readonly string[]) {
  const own = (runtimeFolder ??= findRuntimeFolder());
  const { dirname } = paths();
  const siblings = dirname(own);
  // The given folders may include the folder of a package, for a part that comes with the package. These are not
  // folders of the bundle.
  const isOfBundle = (folder: string) => dirname(folder) !== siblings && !toSlashes(folder).includes('/node_modules/');
  return {
    own,
    siblings,
    folders: [
      ...new Set([...given, ...given.map((folder) => unlessThrows(() => disk().realpathSync(folder)) ?? folder)]),
    ].filter(isOfBundle),
  };
}

function isInside(folder: string, path: string): boolean {
  const { sep } = paths();
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** `path` must be inside `folder`. */
function named(name: string, folder: string, path: string): string {
  return `${name}/${toSlashes(path.slice(folder.length + 1))}`;
}

function toSlashes(path: string): string {
  return path.replaceAll(paths().sep, '/');
}

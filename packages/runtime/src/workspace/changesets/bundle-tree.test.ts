import { describe, expect, test } from 'bun:test';
import { type BundleFs, systemBundleFs } from '../../ports/bundle-fs.ts';
import { BundleTree } from './bundle-tree.ts';
import { changesetLimits } from './changeset-store.ts';

const file = { kind: 'file', size: 1, mode: 0o644 } as const;
const folder = { kind: 'folder', size: 0, mode: 0o755 } as const;

/** A bundle in /b with the methods that a test needs. */
const treeWith = (fs: Partial<BundleFs>, stateRoot = '/state') =>
  new BundleTree({ ...systemBundleFs, ...fs }, '/b', stateRoot);

describe('the files of a bundle', () => {
  test('are listed up to a limit, and after a limit of looks', async () => {
    const names = Array.from({ length: changesetLimits.listedEntries + 5 }, (_, index) => `${index}.md`);
    const list = async () => names;
    expect(await treeWith({ list, look: async () => file }).listFiles()).toHaveLength(changesetLimits.listedFiles);
    let looks = 0;
    const look = async () => {
      looks += 1;
      return undefined;
    };
    expect(await treeWith({ list, look }).listFiles()).toEqual([]);
    expect(looks).toBe(changesetLimits.listedEntries);
  });

  test('are listed without those of a folder that cannot be read', async () => {
    const list = async (path: string) => {
      if (path !== '/b' && path !== '/b/') throw new Error('EACCES');
      return ['a', 'b.md'];
    };
    const look = async (path: string) => (path === '/b/a' ? folder : file);
    expect(await treeWith({ list, look }).listFiles()).toEqual(['b.md']);
  });

  test('have no content if they grow over the limit while they are read', async () => {
    const read = async () => new Uint8Array(changesetLimits.fileBytes + 1);
    expect(await treeWith({ look: async () => file, read }).present('a.md')).toEqual({});
  });

  test('do not include the state root, whatever its name', () => {
    const tree = treeWith({}, '/b/..state');
    for (const path of ['..state', '..state/x']) expect(tree.findProblem(path)).toBe('belongs to the state of Goondan');
    expect(tree.findProblem('..states')).toBeUndefined();
    expect(treeWith({}, '/state').findProblem('state')).toBeUndefined();
  });
});

/** A simulated disk on which a bundle can be. It has no links and no permissions; tests of these use the real disk. */
import type { BundleFs } from '../../ports/bundle-fs.ts';
import { failingFs } from './failing-fs.ts';
import type { SimulatedDisk } from './simulated-disk.ts';

const MODE = 0o644;

export function simulatedBundleDisk(disk: SimulatedDisk): BundleFs {
  const fs = failingFs(disk, () => undefined);
  const look: BundleFs['look'] = async (path) => {
    const found = await disk.stat(path);
    if (found === undefined) return undefined;
    const isFolder = await disk.list(path).then(
      () => true,
      () => false,
    );
    return { kind: isFolder ? 'folder' : 'file', size: found.size, mode: MODE };
  };
  return {
    ...fs,
    look,
    makeSharedFolder: (path) => fs.makeFolder(path),
    openSharedFile: (path) => fs.openFile(path),
    setMode: async () => undefined,
    async removeEmptyFolder(path) {
      if ((await disk.list(path))?.length === 0) await disk.remove(path);
    },
  };
}

import { startBunBeside } from '../../../ipc/bun-beside.ts';
import { isBun } from '../../../ports/is-bun.ts';
import { type ModuleScan, ModuleScanner } from './scan-module.ts';

/** Scans the modules of one bundle. */
export interface Scanner {
  /** `file` and `root` are real paths, and `file` is inside `root`. */
  scan(file: string, root: string): ModuleScan | Promise<ModuleScan>;
  end(): Promise<void>;
}

/** Opens a scanner. Bun parses modules; under Node, a Bun process is started for the first module. */
export function openScanner(): Scanner {
  if (isBun) {
    const scanner = new ModuleScanner();
    return { scan: (file, root) => scanner.scan(file, root), end: async () => undefined };
  }
  let beside: ReturnType<typeof startBunBeside> | undefined;
  return {
    async scan(file, root) {
      beside ??= startBunBeside();
      return (await beside).call<ModuleScan>('scanModule', { file, root });
    },
    end: async () => (await beside)?.end(),
  };
}

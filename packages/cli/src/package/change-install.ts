/**
 * Changes the installed packages of a bundle with npm. If the change fails, it is undone completely. Scripts of
 * packages run only if allowed.
 */
import { GoondanError } from '@goondan/types';
import type { Terminal } from '../terminal.ts';
import { rememberInstall } from './remember-install.ts';
import { type NpmRun, runNpm } from './run-npm.ts';

/** `work` makes the change and checks it. If it throws, the change is undone. **Errors** — those of `work`. */
export async function changeInstall<Value>(
  { folder, isTrusted, terminal, signal }: NpmRun,
  work: (npm: (...args: string[]) => Promise<void>) => Promise<Value>,
): Promise<Value> {
  const remembered = rememberInstall(folder);
  try {
    return await work((...args) => runNpm(args, { folder, isTrusted, terminal, signal }));
  } catch (error) {
    const untilDone = new AbortController();
    await remembered
      .putBack((...args) => runNpm(args, { folder, isTrusted, terminal, signal: untilDone.signal }))
      .catch((problem: unknown) => tellLeft(folder, problem, terminal));
    throw error;
  }
}

function tellLeft(folder: string, problem: unknown, terminal: Terminal): void {
  if (!GoondanError.is(problem)) throw problem;
  terminal.printError(
    `package.json is as it was, but node_modules may not be: ${problem.message}\nRun \`npm install\` in "${folder}".\n`,
  );
}

// `npm run examples`: runs the `check.ts` of every example. An example checks itself: it exits with 0 when it works as
// described, and fails with another code or after a minute.
import { basename, dirname, join } from 'node:path';

const limitMs = 60_000;

/** Runs all examples of the repository, one after the other, and returns the exit code of the run. */
export async function runExamples(repository: string, print: (line: string) => void): Promise<number> {
  const checks = [...new Bun.Glob('examples/*/check.ts').scanSync(repository)];
  if (checks.length === 0) {
    print('There is no example: an example is a folder below examples/ with a check.ts.');
    return 1;
  }
  let failed = 0;
  for (const folder of checks.map((check) => dirname(check)).toSorted((a, b) => a.localeCompare(b))) {
    const { problem, output, elapsedMs } = await runExample(join(repository, folder));
    print(
      `${problem === undefined ? 'ok    ' : 'failed'} ${basename(folder)} (${problem ?? `${Math.round(elapsedMs)} ms`})`,
    );
    if (problem === undefined) continue;
    failed += 1;
    print(output);
  }
  print(`${checks.length} examples, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

interface ExampleRun {
  /** The reason of a failure; absent when the example passed. */
  problem?: string;
  output: string;
  elapsedMs: number;
}

async function runExample(folder: string): Promise<ExampleRun> {
  const startedAt = performance.now();
  const child = Bun.spawn([process.execPath, '--no-env-file', '--no-install', '--no-orphans', 'check.ts'], {
    cwd: folder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const ended = { output: stdout + stderr, elapsedMs: performance.now() - startedAt };
  if (child.exitCode === 0) return ended;
  return { ...ended, problem: child.exitCode === null ? `ended by ${child.signalCode}` : `exit ${child.exitCode}` };
}

if (import.meta.main) process.exitCode = await runExamples(join(import.meta.dir, '..'), console.log);

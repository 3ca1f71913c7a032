/** Runs one scenario of the official suite, with the adapter as its client, and reads the result. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Scenario, suiteFolder } from './list-scenarios.ts';

export interface ScenarioResult {
  readonly passed: boolean;
  /** The output of the suite, with the failed checks and the output of the adapter. */
  readonly report: string;
  readonly seconds: number;
}

/** The maximum time of a scenario. The suite counts a client that takes longer as failed. */
const LONGEST_MS = 60_000;

/** Runs a scenario. The signal ends it, and resolves with a failure. */
export async function runScenario({ name, revision }: Scenario, signal?: AbortSignal): Promise<ScenarioResult> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const startedAt = performance.now();
  const client = `${process.execPath} ${join(import.meta.dir, 'adapter.ts')}`;
  const command = ['client', '--command', client, '--scenario', name, '--spec-version', revision, '--force'];
  const suite = Bun.spawn(
    [process.execPath, join(suiteFolder, 'dist/index.js'), ...command, '--timeout', String(LONGEST_MS)],
    { cwd: folder, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', ...(signal === undefined ? {} : { signal }) },
  );
  try {
    const [stdout, stderr, exitCode] = await Promise.all([
      new Response(suite.stdout).text(),
      new Response(suite.stderr).text(),
      suite.exited,
    ]);
    // A scenario that the suite skips has no checks, and must not count as passed.
    const passed = exitCode === 0 && /Passed: [1-9]\d*\//.test(stderr);
    return { passed, report: `${stdout}${stderr}`, seconds: (performance.now() - startedAt) / 1_000 };
  } finally {
    suite.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The maximum time that a program may run: more than any checked program needs, even on a busy machine. */
const TIMEOUT_MS = 15_000;
const LONGEST = 300;

/** Runs a system program until it exits. Never runs it in the current folder, which may not be trusted. */
export async function probe(
  ...command: readonly string[]
): Promise<{ readonly works: true; readonly said: string } | { readonly works: false; readonly why: string }> {
  const [program = ''] = command;
  try {
    const child = Bun.spawn([...command], {
      cwd: '/',
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    const readText = Bun.readableStreamToText;
    const [said, complaint] = await Promise.all([readText(child.stdout), readText(child.stderr), child.exited]);
    if (child.exitCode === 0) return { works: true, said: firstLine(said) };
    const end = child.signalCode === null ? `exit code ${child.exitCode}` : `ended by ${child.signalCode}`;
    return { works: false, why: firstLine(complaint) || `${program}: ${end}` };
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { works: false, why: isAbsent ? 'not found' : firstLine(String(error)) };
  }
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line.replaceAll(/\p{Cc}/gu, ' ').slice(0, LONGEST);
}

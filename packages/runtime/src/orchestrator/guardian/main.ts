/**
 * The guardian: a small process beside the orchestrator that outlives it, however it ends, and takes the rest of the run
 * with it. It learns of that end from its standard input, which the system closes even after `kill -9`. It carries no
 * tag itself and answers to no signal that a terminal or a supervisor sends around.
 */
import { writeSync } from 'node:fs';
import { guard, type GuardianReport } from './guard.ts';
import { killGroups } from './kill-groups.ts';
import { killTagged } from './kill-tagged.ts';
import { checkTag } from './process-tag.ts';
import { canReadProcesses } from './read-processes.ts';

const tag = checkTag(process.argv[2] ?? '');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => undefined);
const method = canReadProcesses() ? 'tag' : 'groups';
say({ watching: true, method });
const report = await guard({ lines: readLines(), endRun });
say(report);
process.exit(report.left.length === 0 ? 0 : 1);

async function endRun(groups: readonly number[], quietMs: number): Promise<Omit<GuardianReport, 'reason'>> {
  const ending = method === 'tag' ? killTagged(tag, { quietMs }) : killGroups(groups);
  return { method, ...(await ending) };
}

async function* readLines(): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of Bun.stdin.stream()) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

function say(value: object): void {
  try {
    writeSync(1, `${JSON.stringify(value)}\n`);
  } catch {
    // Nobody is there to hear it.
  }
}

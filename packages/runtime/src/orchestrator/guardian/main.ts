/**
 * The guardian: a small process beside the orchestrator that outlives it, however the orchestrator ends, and then ends
 * the remaining processes of the run. The guardian detects the end of the orchestrator by the connection between them,
 * which the system closes even after `kill -9`. The guardian has no tag itself, and ignores signals that a terminal or
 * a supervisor sends to a group.
 */
import { CHANNEL_DESCRIPTOR } from '../../ipc/channel/socket-wire.ts';
import { delayCompiling } from '../../ports/delay-compiling.ts';
import { guard, type GuardianReport } from './guard.ts';
import { killGroups } from './kill-groups.ts';
import { killTagged } from './kill-tagged.ts';
import { openLine } from './line.ts';
import { checkTag } from './process-tag.ts';
import { canReadProcesses } from './read-processes.ts';

delayCompiling();
const tag = checkTag(process.argv[2] ?? '');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
const method = canReadProcesses() ? 'tag' : 'groups';
const line = openLine(CHANNEL_DESCRIPTOR);
line.say(JSON.stringify({ pid: process.pid, method }));
void guard(line.lines(), endRun).then((report) => {
  line.say(JSON.stringify(report));
  process.exit(report.left.length === 0 ? 0 : 1);
});

async function endRun(groups: readonly number[], quietMs: number): Promise<Omit<GuardianReport, 'reason'>> {
  const ending = method === 'tag' ? killTagged(tag, quietMs) : killGroups(groups);
  return { method, ...(await ending) };
}

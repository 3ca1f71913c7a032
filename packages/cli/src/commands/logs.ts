import type { LogLine, Swarm } from '@goondan/runtime';
import type { LogQuestion } from '@goondan/runtime/history';
import { addressIn, type InstanceOptions, numberUpTo } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { logText, stackIn } from '../log-text.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

type LogsOptions = InstanceOptions & { readonly follow?: boolean; readonly trace?: string; readonly last: number };

export function addLogsCommand(program: GdnCommand): void {
  program
    .command('logs')
    .summary('print the log of a swarm')
    .description(
      'Prints the last lines of the log of a swarm, also after it has stopped. With --follow it continues until ' +
        'the swarm stops or you press Ctrl-C. With --json every line is a JSON object.',
    )
    .option('-f, --follow', 'keep printing what a running swarm logs')
    .option('--agent <name>', 'only lines of this agent')
    .option('--instance <key>', 'only lines of this conversation')
    .option('--trace <id>', 'only lines of this trace')
    .option('--last <number>', 'the number of lines', numberUpTo(MOST), 100)
    .bundleOptions()
    .examples('gdn logs --bundle my-swarm --agent assistant -f')
    .runs((options: LogsOptions, terminal) => withInterrupt((signal) => showLogs(options, terminal, signal)));
}

async function showLogs(options: LogsOptions, terminal: Terminal, signal: AbortSignal): Promise<ExitCode> {
  const [{ placeOfSwarm, reachSwarm }, { readSwarmLog }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('@goondan/runtime/history'),
  ]);
  const { agent, instance, trace, last } = options;
  const question: LogQuestion = {
    last,
    ...(agent === undefined ? {} : { agent }),
    ...(instance === undefined ? {} : { instance }),
    ...(trace === undefined ? {} : { traceId: trace }),
  };
  const print = (line: LogLine) => terminal.print(options.json === true ? `${JSON.stringify(line)}\n` : toText(line));
  const swarm = options.follow === true ? await reachSwarm(options) : undefined;
  const following = swarm === undefined ? undefined : await follow(swarm, options);
  const lines = await readSwarmLog(await placeOfSwarm(options), question);
  for (const line of lines) print(line);
  if (following === undefined) return exitCodes.ok;
  signal.addEventListener('abort', following.end, { once: true });
  if (signal.aborted) following.end();
  await following.printWith(print, lines);
  return signal.aborted ? exitCodes.interrupted : exitCodes.ok;
}

/**
 * Starts to watch at once and buffers the lines until they can be printed, so that no line is lost between the log file
 * and the stream.
 */
async function follow(swarm: Swarm, { trace, ...options }: LogsOptions) {
  let kept: LogLine[] = [];
  let take: (line: LogLine) => void = (line) => {
    // The buffer is limited, but far fewer lines than `MOST` arrive while the log file is read.
    if (kept.length < MOST) kept.push(line);
  };
  const watch = await swarm.watch({ types: ['log'], ...addressIn(options) }, (notice) => {
    if (notice.type === 'log' && (trace === undefined || notice.line.traceId === trace)) take(notice.line);
  });
  return {
    end: () => watch.end(),
    /**
     * Prints the buffered lines that are not in `printed`, then every new line. Resolves when the swarm has stopped.
     */
    async printWith(print: (line: LogLine) => void, printed: readonly LogLine[]): Promise<void> {
      const known = new Set(printed.map((line) => JSON.stringify(line)));
      for (const line of kept) if (!known.has(JSON.stringify(line))) print(line);
      kept = [];
      take = print;
      await watch.ended;
    },
  };
}

function toText(line: LogLine): string {
  const { time, level, agent, instance, connection, extension } = line;
  const who = [agent ?? connection, instance, extension].filter(Boolean).join(' ');
  const stack = stackIn(line).map((frame) => `  ${frame}\n`);
  return `${time} ${level} ${who === '' ? '' : `${who}: `}${logText(line)}\n${stack.join('')}`;
}

const MOST = 100_000;

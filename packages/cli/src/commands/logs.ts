import type { LogLine, Swarm } from '@goondan/runtime';
import type { LogQuestion } from '@goondan/runtime/history';
import { Option } from 'commander';
import { addressIn, bundleFolder, type InstanceOptions, numberUpTo } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { GdnCommand } from '../gdn-command.ts';
import type { LineChoice } from '../logs/choose-lines.ts';
import { logLevels, readPattern } from '../logs/log-options.ts';
import { readSince } from '../logs/read-since.ts';
import type { SwarmPlace } from '../swarm/swarm-place.ts';
import { startCommand } from '../swarm/start-command.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

type LogsOptions = InstanceOptions & LineChoice & { readonly follow?: boolean; readonly last: number };

export function addLogsCommand(program: GdnCommand): void {
  program
    .command('logs')
    .summary('print the log of a swarm')
    .description(
      'Prints the last lines of the log of a swarm, also after it has stopped. With --follow it continues until ' +
        'the swarm stops or you press Ctrl-C. Lines of level debug are hidden without --level debug. Times are local at a ' +
        'terminal, and UTC in a pipe. With --json every line is a JSON object, with its time in UTC.',
    )
    .option('-f, --follow', 'keep printing what a running swarm logs')
    .option('--agent <name>', 'only lines of this agent')
    .option('--instance <key>', 'only lines of this conversation')
    .option('--trace <id>', 'only lines of this turn or trace; the beginning of the id is enough')
    .addOption(
      new Option('--level <level>', 'only lines of this level, and more important ones')
        .choices(logLevels)
        .default('info'),
    )
    .option('--since <time>', 'only newer lines: 10m, 2h, 1d, 09:30, 2026-01-31, 2026-01-31T09:30Z', (text) =>
      readSince(text, new Date()),
    )
    .option(
      '--grep <pattern>',
      'only lines that match this regular expression; lower case matches any case',
      readPattern,
    )
    .option('--last <number>', 'the number of lines', numberUpTo(MOST), 100)
    .swarmOptions()
    .examples(
      'gdn logs --bundle my-swarm --agent my-swarm -f',
      'gdn logs --level warn --since 1h',
      'gdn logs --level debug --grep "process [0-9]+ ended"',
    )
    .runs((options: LogsOptions, terminal) => withInterrupt((signal) => showLogs(options, terminal, signal)));
}

async function showLogs(options: LogsOptions, terminal: Terminal, signal: AbortSignal): Promise<ExitCode> {
  const [{ placeOfSwarm, reachSwarm }, { openReader }, { checkMeaning, chooseLines }, { renderLogLine }] =
    await Promise.all([
      import('../swarm/reach-swarm.ts'),
      import('../swarm/swarm-place.ts'),
      import('../logs/choose-lines.ts'),
      import('../logs/render-log-line.ts'),
    ]);
  const { agent, instance, last, json = false } = options;
  const where = chooseLines(options);
  const question: LogQuestion = {
    last,
    where,
    ...(agent === undefined ? {} : { agent }),
    ...(instance === undefined ? {} : { instance }),
  };
  const print = (line: LogLine) =>
    terminal.print(json ? `${JSON.stringify(line)}\n` : renderLogLine(line, terminal.isWatched));
  const swarm = options.follow === true ? await reachSwarm(options) : undefined;
  const following = swarm === undefined ? undefined : await follow(swarm, options, where);
  try {
    const place = await placeOfSwarm(options);
    const lines = await (await openReader(place)).logs.read(question);
    if (lines.length === 0 && agent !== undefined) {
      const { checkAgent } = await import('../logs/check-agent.ts');
      await checkAgent({ agent, place, folder: bundleFolder(undefined, options), running: swarm });
    }
    if (options.trace !== undefined) checkMeaning(lines, options.trace);
    for (const line of lines) print(line);
    if (following === undefined) {
      if (lines.length === 0) terminal.printError(await tellNothing(options, place));
      return exitCodes.ok;
    }
    signal.addEventListener('abort', following.end, { once: true });
    if (signal.aborted) following.end();
    await following.printWith(print, lines);
    return signal.aborted ? exitCodes.interrupted : exitCodes.ok;
  } finally {
    following?.end();
  }
}

/**
 * Starts to watch at once and buffers the lines until they can be printed, so that no line is lost between the log file
 * and the stream.
 */
async function follow(swarm: Swarm, options: LogsOptions, where: (line: LogLine) => boolean) {
  let kept: LogLine[] = [];
  let take: (line: LogLine) => void = (line) => {
    // The buffer is limited, but far fewer lines than `MOST` arrive while the log file is read.
    if (kept.length < MOST) kept.push(line);
  };
  const watch = await swarm.watch({ types: ['log'], ...addressIn(options) }, (notice) => {
    if (notice.type === 'log' && where(notice.line)) take(notice.line);
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

async function tellNothing(options: LogsOptions, place: SwarmPlace & { readonly swarm: string }): Promise<string> {
  const { level } = options;
  const { openReader } = await import('../swarm/swarm-place.ts');
  if ((await (await openReader(place)).logs.read({ last: 1 })).length === 0) {
    return `Swarm "${place.swarm}" has not run yet, so there is no log. Start it with \`${startCommand(options)}\`.\n`;
  }
  return `No line of the log matches.${level === 'debug' ? '' : ' `--level debug` shows all levels.'}\n`;
}

const MOST = 100_000;

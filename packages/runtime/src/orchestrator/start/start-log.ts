/** The log of a starting swarm. */
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel, LogLine } from '../../ports/log-line.ts';
import { writeStandardError } from '../../ports/write-standard-error.ts';
import type { LogSink } from '../../store/cluster-store.ts';
import { SwarmLog } from '../../workspace/logs/swarm-log.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';

/** Writes log lines to the files and to the starting program, and, once the swarm exists, to its watchers. */
export interface StartLog {
  /** Writes a line to the files and to the starting program only. */
  write(line: LogLine): void;
  /** Writes a line, and passes it to the watchers of the swarm. */
  tell(line: LogLine): void;
  report(level: LogLevel, event: string, message: string): void;
  /** Writes a warning about the store to the files and to the starting program, and not to the store. */
  warnOfStore(message: string): void;
  /** From now on, passes lines to the swarm, which writes them here itself. */
  handOver(swarm: SwarmAgents): void;
  /** From now on, writes the lines to the store, too. */
  addSink(sink: Pick<LogSink, 'write'>): void;
}

export interface StartLogPlace {
  readonly stateRoot: string;
  readonly workspaceId: string;
  readonly clock: Clock;
  /** Closes the files at the end of the swarm. */
  readonly endings: AsyncDisposableStack;
  readonly onLog?: (line: LogLine) => void;
}

export function openLog({ stateRoot, workspaceId, clock, endings, onLog = () => undefined }: StartLogPlace): StartLog {
  const files = new SwarmLog({
    stateRoot,
    workspaceId,
    clock,
    // Written to standard error, because the log itself has just failed.
    warn: ({ path, message }) => writeStandardError(`${path} ${message}\n`),
  });
  endings.defer(() => files.close());
  let sink: Pick<LogSink, 'write'> | undefined;
  const writeHere = (line: LogLine) => {
    files.write(line);
    onLog(line);
  };
  const write = (line: LogLine) => {
    sink?.write(line);
    writeHere(line);
  };
  let tell = write;
  const lineOf = (level: LogLevel, event: string, message: string): LogLine => ({
    time: clock.now().toISOString(),
    level,
    message,
    event,
  });
  return {
    write,
    tell: (line) => tell(line),
    report: (...line) => tell(lineOf(...line)),
    warnOfStore: (message) => writeHere(lineOf('warn', 'store.problem', message)),
    handOver: (swarm) => {
      tell = (line) => swarm.log(line);
    },
    addSink: (added) => {
      sink = added;
    },
  };
}

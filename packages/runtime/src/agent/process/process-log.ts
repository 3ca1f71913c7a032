/** The log of an agent process: lines for people. They are sent to the orchestrator, which writes them to the file. */
import type { CodePlace, ErrorCode, JsonObject } from '@goondan/types';
import { type FrameError, maskFrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { readField } from '../../json/read-field.ts';
import { locateIn, type LocateThrown } from '../../log/locate-thrown.ts';
import { cutMessage } from '../../log/log-sink.ts';
import type { LogLevel, LogLine } from '../../ports/log-line.ts';
import { type Mask, maskJson, maskSecrets } from '../../log/mask-secrets.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import type { AgentChannel } from './process-host.ts';

export class ProcessLog {
  #mask: Mask = (text) => text;
  readonly #secrets = new Set<string>();
  readonly #folders = new Set<string>();
  /** Finds the place in the bundle's code where an error was thrown. */
  locate: LocateThrown = () => ({});

  constructor(
    private readonly channel: AgentChannel,
    private readonly clock: Clock,
  ) {}

  /** Masks these secrets in every line, besides earlier ones. `folders`: the folders of the bundle's code. */
  prepare(secrets: readonly string[], folders: readonly string[]): void {
    for (const secret of secrets) this.#secrets.add(secret);
    for (const folder of folders) this.#folders.add(folder);
    this.#mask = maskSecrets([...this.#secrets]);
    this.locate = locateIn([...this.#folders], this.#mask);
  }

  mask(text: string): string {
    return cutMessage(this.#mask(text));
  }

  /** Writes a line of the process itself. The orchestrator identifies the process by the channel. */
  write(level: LogLevel, event: string, message: string, data?: JsonObject, place?: CodePlace): void {
    this.send({
      time: this.clock.now().toISOString(),
      level,
      message: this.mask(message),
      event,
      ...(place === undefined ? {} : { place }),
      ...(data === undefined ? {} : { data: maskJson(data, (text) => this.mask(text)) }),
    });
  }

  /** Converts a thrown value for a message to the orchestrator, with secrets masked. */
  frameError(thrown: unknown, fallback: ErrorCode): FrameError {
    const error = maskFrameError(toFrameError(thrown, fallback), (text) => this.mask(text));
    const { place } = this.locate(thrown);
    return place === undefined ? error : { ...error, place };
  }

  /** Writes a line about a thrown value. */
  writeThrown(level: LogLevel, event: string, what: string, thrown: unknown): void {
    const { message, code = null, extension = null } = toTurnError(thrown);
    const { place, stack = stackOf(thrown) } = this.locate(thrown);
    this.write(level, event, `${what}: ${message}`, { code, extension, stack }, place);
  }

  /** Sends a complete line. Never throws; data that cannot be sent is left out. */
  send(line: LogLine): void {
    this.channel.send({ type: 'log', line }).catch(() => {
      const { data: _, ...bare } = line;
      this.channel.send({ type: 'log', line: bare }).catch(() => undefined);
    });
  }
}

/** Returns the stack of an error that was not thrown by bundle code, for developers of Goondan. */
function stackOf(thrown: unknown): string | null {
  const stack = readField(thrown, 'stack');
  return typeof stack === 'string' ? stack : null;
}

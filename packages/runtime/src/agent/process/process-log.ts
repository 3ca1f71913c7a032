/** The log of an agent's process: lines for people, sent to the orchestrator, which writes them down. */
import type { JsonObject } from '@goondan/types';
import type { Channel } from '../../ipc/channel/channel.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import { cutMessage, type LogLevel, type LogLine } from '../../log/log-sink.ts';
import { type Mask, maskJson, maskSecrets } from '../../log/mask-secrets.ts';
import { toTurnError } from '../pipeline/turn-error.ts';

export class ProcessLog {
  readonly #channel: Channel<FromAgent, ToAgent>;
  readonly #clock: Clock;
  #mask: Mask = (text) => text;

  constructor(channel: Channel<FromAgent, ToAgent>, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
  }

  /** These must not be written down. */
  hide(secrets: readonly string[]): void {
    this.#mask = maskSecrets(secrets);
  }

  mask(text: string): string {
    return cutMessage(this.#mask(text));
  }

  /** A line of the process itself. Whose it is, the orchestrator knows by the channel. */
  write(level: LogLevel, event: string, message: string, data?: JsonObject): void {
    this.send({
      time: this.#clock.now().toISOString(),
      level,
      message: this.mask(message),
      event,
      ...(data === undefined ? {} : { data: maskJson(data, (text) => this.mask(text)) }),
    });
  }

  /** The same about something thrown, whatever that is. */
  writeThrown(level: LogLevel, event: string, what: string, thrown: unknown): void {
    const { message, code = null, extension = null } = toTurnError(thrown);
    const stack = thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : null;
    this.write(level, event, `${what}: ${message}`, { code, extension, stack });
  }

  /** A finished line. Never throws; a line whose data cannot travel goes without. */
  send(line: LogLine): void {
    this.#channel.send({ type: 'log', line }).catch(() => {
      const { data: _, ...bare } = line;
      this.#channel.send({ type: 'log', line: bare }).catch(() => undefined);
    });
  }
}

/** Selects the log lines of a swarm that the one-shot run which started it prints. */
import type { Acceptance, Delivery, InstanceAddress, InstanceStatus, LogLine } from '@goondan/runtime';
import { eventIdOf } from '@goondan/runtime/internal';
import { isAboutSilence, isAboutTurn } from '../print-log-line.ts';

/**
 * A line belongs to the run if it is about the whole swarm, about the conversation of the run, or about something that
 * its turn caused: it has the trace of the turn, or no trace and a conversation without earlier work.
 */
export class OwnLines {
  #own: Acceptance | undefined;
  #others: readonly InstanceAddress[] = [];

  constructor(private readonly delivery: Delivery) {}

  /** Leaves out the work that the swarm found when it started. */
  leaveOut(instances: readonly InstanceStatus[]): void {
    this.#others = instances.filter(({ queued }) => queued > 0);
  }

  begin(accepted: Acceptance): void {
    this.#own = accepted;
  }

  /**
   * True for lines that are not printed: those of others, and those that say why the asked turn or instance gave no
   * answer, because the last line of the command says the same. Failures of called agents are printed.
   */
  isReported(line: LogLine, entryAgent?: string): boolean {
    const { agent = entryAgent, instanceKey = 'default', id } = this.delivery;
    const isOwn = line.agent === agent && (line.instance ?? instanceKey) === instanceKey;
    if (line.agent !== undefined && !isOwn && !this.#isCaused(line)) return true;
    if (isAboutTurn(line)) return line.turnId !== undefined && eventIdOf(line.turnId) === id;
    return isAboutSilence(line, { ...(agent && { agent }), instanceKey });
  }

  #isCaused({ agent, instance, traceId }: LogLine): boolean {
    if (this.#own === undefined) return false;
    if (traceId !== undefined) return traceId === this.#own.traceId;
    return !this.#others.some((other) => other.agent === agent && other.instanceKey === instance);
  }
}

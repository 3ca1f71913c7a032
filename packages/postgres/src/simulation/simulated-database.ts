/**
 * A database that numbers the statements of one node and fails at chosen ones. The statements run on a real PostgreSQL, one
 * after the other, so that a point can be repeated.
 *
 * A dead node gets no more answers: its promises stay open, and none of its code runs any more.
 */
import type { GoondanError } from '@goondan/types';
import type { Database, Row, Value } from '../driver/database.ts';
import { storeAway } from '../driver/coded-error.ts';

/**
 * `die`: the node ends before the statement reaches the server, or after it happened. `cut`: only the connection is lost.
 * `echo`: the connection is lost, and the statement reaches the server later. `late`: the node stops before the statement,
 * until `resume`.
 */
export const faults = ['die before', 'die after', 'cut before', 'cut after', 'echo', 'late'] as const;
export type Fault = (typeof faults)[number];

export interface PlannedFault {
  /** The number of the statement, from 1 on. */
  readonly at: number;
  readonly fault: Fault;
}

/** The statements after which an echo arrives. */
const ECHO_AFTER = 3;
/** The time in which a statement is repeated after its first cut. */
const REPEATED_MS = 40;
/** A node that needs more statements repeats one without end. */
const MOST_STATEMENTS = 3000;

interface Echo {
  readonly at: number;
  readonly statement: string;
  readonly values: readonly Value[];
}

export class SimulatedDatabase implements Database {
  /** The number of statements so far. */
  statements = 0;
  /** The number of connections that were cut. */
  cuts = 0;
  /** Called before each statement with its number. */
  beforeStatement: (statement: number) => Promise<void> = async () => undefined;
  /** Resolves when the node is dead, or late. */
  readonly stopped: Promise<'dead' | 'late'>;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isDead = false;
  /** True while the node is dead or late. */
  #isStopped = false;
  #echo: Echo | undefined;
  #stop: (how: 'dead' | 'late') => void = () => undefined;
  #resume = () => {};

  constructor(
    private readonly real: Pick<Database, 'query'>,
    private readonly planned: readonly PlannedFault[] = [],
  ) {
    this.stopped = new Promise((resolve) => {
      this.#stop = resolve;
    });
  }

  query<Found extends Row>(statement: string, values: readonly Value[] = []): Promise<readonly Found[]> {
    if (this.#isDead) return never();
    this.#waiting += 1;
    const answer = this.#last.then(() => this.#run<Found>(statement, values));
    const after = () => {
      this.#waiting -= 1;
    };
    this.#last = answer.then(after, after);
    return answer;
  }

  /** Lets a late node continue. */
  resume(): void {
    this.#resume();
  }

  /** Ends the node, wherever it is. */
  kill(): void {
    this.#isDead = true;
    this.#isStopped = true;
    this.#stop('dead');
  }

  /** Resolves when no statement runs, and none begins by itself. A statement that was cut is repeated first. */
  async settled(): Promise<void> {
    if (this.cuts > 0) await new Promise((resolve) => void setTimeout(resolve, REPEATED_MS));
    do await new Promise((resolve) => void setImmediate(resolve));
    while (this.#waiting > 0 && !this.#isStopped);
  }

  /** Sends a statement that is still under way. Its answer interests nobody. */
  async sendEcho(): Promise<void> {
    const echo = this.#echo;
    this.#echo = undefined;
    if (echo) await this.real.query(echo.statement, echo.values).catch(() => undefined);
  }

  /** The simulation uses no hints: the scan must find everything. */
  async listen(): Promise<{ end(): Promise<void> }> {
    return { end: async () => undefined };
  }

  async close(): Promise<void> {}

  async #run<Found extends Row>(statement: string, values: readonly Value[]): Promise<readonly Found[]> {
    const number = (this.statements += 1);
    if (number > MOST_STATEMENTS) throw new Error(`more than ${MOST_STATEMENTS} statements: ${statement}`);
    await this.beforeStatement(number);
    if (this.#echo && number >= this.#echo.at) await this.sendEcho();
    const fault = this.planned.find(({ at }) => at === number)?.fault;
    if (fault === 'die before') return this.#die();
    if (fault === 'late') await this.#wait();
    if (fault === 'echo') this.#echo = { at: number + ECHO_AFTER, statement, values };
    if (fault === 'cut before' || fault === 'echo') throw this.#cut('before');
    // A node that was killed in the meantime sends nothing.
    if (this.#isDead) return never();
    const rows = await this.real.query<Found>(statement, values);
    if (fault === 'die after') return this.#die();
    if (fault === 'cut after') throw this.#cut('after');
    return this.#isDead ? never() : rows;
  }

  #cut(when: 'before' | 'after'): GoondanError {
    this.cuts += 1;
    return storeAway(`the connection was cut ${when} the statement`);
  }

  #die(): Promise<never> {
    this.kill();
    return never();
  }

  async #wait(): Promise<void> {
    this.#isStopped = true;
    this.#stop('late');
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    this.#isStopped = this.#isDead;
  }
}

export function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** A node that accepts input and owns nothing. It fails at one accept; another node of this kind replaces it. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { PostgresInbox } from '../store/inbox.ts';
import { type PlannedFault, SimulatedDatabase } from './simulated-database.ts';

export class AcceptingNode {
  #database: SimulatedDatabase;
  /** The accept of a late node. The client has sent the event again. */
  #late: { readonly database: SimulatedDatabase; readonly accepted: ReturnType<PostgresInbox['accept']> } | undefined;

  readonly #open = new Set<Promise<void>>();

  /** `sent`: how often a node was asked to accept an event, by id. */
  constructor(
    private readonly real: Database,
    private readonly swarm: string,
    private readonly sent: Map<string, number>,
    planned: PlannedFault | undefined,
  ) {
    this.#database = new SimulatedDatabase(real, planned ? [planned] : []);
  }

  /** Sends an event, and sends it to another node if this one does not answer. */
  async accept(instance: AgentAddress, event: AgentEvent): Promise<void> {
    const sending = this.#send(instance, event);
    this.#open.add(sending);
    await sending.finally(() => this.#open.delete(sending));
  }

  /** Lets a late accept reach the server, where the event must be known. */
  async end(): Promise<void> {
    await Promise.all(this.#open);
    await this.#database.sendEcho();
    if (this.#late === undefined) return;
    this.#late.database.resume();
    const { duplicate } = await this.#late.accepted;
    if (!duplicate) throw new Error('an event that was sent again was accepted a second time');
  }

  async #send(instance: AgentAddress, event: AgentEvent): Promise<void> {
    const times = 1 + (this.sent.get(event.id) ?? 0);
    this.sent.set(event.id, times);
    const database = this.#database;
    const inbox = new PostgresInbox({ database, swarm: this.swarm, node: 'other', mayRepeat: () => true });
    const accepted = inbox.accept(instance, event);
    const how = await Promise.race([accepted, database.stopped]);
    if (typeof how === 'object') {
      if (how.duplicate && times === 1) throw new Error(`the first delivery of ${event.id} is called a duplicate`);
      return;
    }
    if (how === 'late') this.#late = { database, accepted };
    this.#database = new SimulatedDatabase(this.real);
    await this.#send(instance, event);
  }
}

/**
 * The inbox in PostgreSQL. Any node accepts input for any instance; the node that owns the instance runs its turns.
 *
 * An accept is one statement, which increases `last_input` in the row of the instance. So numbers grow, and the limits
 * of the inbox hold for all nodes together. Each accept has an id of its own: a statement whose answer was lost finds the
 * row that it has written.
 */
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import type { Accepted, ConnectionFence, Inbox, InboxEntry } from '@goondan/runtime/history';
import { callerOf, defaultLimits } from '@goondan/runtime/internal';
import type { Query } from '../driver/repeat.ts';
import {
  acceptStatement,
  type AcceptOutcome,
  cancelStatement,
  type RoomOutcome,
  roomStatement,
} from './accept-statement.ts';
import { decodeEvent, encodeEvent } from './event-text.ts';
import { isKept, keptText, refuseUnkept } from './kept-text.ts';
import { keyOf, queryOf, SAME_INSTANCE, type StoreContext } from './store-context.ts';

/** The limits are those of an inbox in files. */
export type InboxLimits = Pick<typeof defaultLimits, 'inboxEvents' | 'inboxBytes'>;

export interface PostgresInboxOptions {
  readonly limits?: InboxLimits;
  /** Told by every accept of a new event which node owns the instance; `undefined`: none. The node may be dead. */
  readonly onOwner?: (instance: AgentAddress, node: string | undefined) => void;
}

type WakeListener = (instance: AgentAddress) => void;

export class PostgresInbox implements Inbox {
  readonly #query: Query;
  readonly #listeners = new Set<WakeListener>();
  readonly #limits: InboxLimits;

  constructor(
    private readonly context: StoreContext,
    private readonly options: PostgresInboxOptions = {},
  ) {
    this.#query = queryOf(context);
    this.#limits = options.limits ?? defaultLimits;
  }

  async checkRoom(instance: AgentAddress, event: AgentEvent, under?: ConnectionFence): Promise<void> {
    refuseUnkept(instance, event);
    const values = [
      ...keyOf(this.context, instance),
      event.id,
      Buffer.byteLength(encodeEvent(event)),
      this.#limits.inboxEvents,
      this.#limits.inboxBytes,
      ...(under ? [under.connection, this.context.node, under.epoch] : []),
    ];
    const [outcome] = await this.#query<RoomOutcome>(roomStatement(under !== undefined), values);
    if (outcome?.may_connect === false) throw connectionLost(under?.connection ?? '');
    if (outcome?.is_full === true) throw inboxFull(instance, outcome);
  }

  async accept(instance: AgentAddress, event: AgentEvent, under?: ConnectionFence): Promise<Accepted> {
    refuseUnkept(instance, event);
    const text = encodeEvent(event);
    const attempt = crypto.randomUUID();
    const caller = callerOf(event);
    const values = [
      ...keyOf(this.context, instance),
      event.id,
      attempt,
      text,
      caller?.agentName ?? null,
      caller?.instanceKey ?? null,
      this.context.node,
      this.#limits.inboxEvents,
      this.#limits.inboxBytes,
      ...(under ? [under.connection, under.epoch] : []),
    ];
    const statement = acceptStatement({
      hasFence: under !== undefined,
      hasCaller: caller !== undefined,
      channel: this.context.channel,
    });
    for (;;) {
      const [outcome] = await this.#query<AcceptOutcome>(statement, values);
      if (outcome === undefined) throw new GoondanError('E_STORE_READ', 'The database answered without a row.');
      if (outcome.accepted !== null) {
        this.options.onOwner?.(instance, outcome.owner ?? undefined);
        return { accepted: true, duplicate: false, seq: outcome.accepted };
      }
      if (outcome.known !== null) return knownAs(instance, outcome, attempt);
      if (!outcome.may_connect) throw connectionLost(under?.connection ?? '');
      // Otherwise the same event came in at the same time, and is known to the next run of the statement.
      if (outcome.is_full) throw inboxFull(instance, outcome);
    }
  }

  async cancel(instance: AgentAddress, eventId: string, reason: string): Promise<boolean> {
    if (!isKept(instance.instanceKey) || !isKept(eventId)) return false;
    const { context } = this;
    const values = [...keyOf(context, instance), eventId, keptText(reason), context.node];
    const [outcome] = await this.#query<{ readonly is_marked: boolean }>(cancelStatement(context.channel), values);
    return outcome?.is_marked === true;
  }

  async pendingEntries(instance: AgentAddress): Promise<readonly InboxEntry[]> {
    const rows = await this.#query<EntryRow>(PENDING, keyOf(this.context, instance));
    return rows.map((row) => entryOf(instance, row));
  }

  /** The commit of a turn has ended its input already. */
  handled(): void {
    return undefined;
  }

  onWake(listener: WakeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Tells the listeners of `onWake` that an instance of this node has input from elsewhere. */
  wake(instance: AgentAddress): void {
    for (const listener of this.#listeners) listener(instance);
  }
}

type EntryRow = Readonly<{ seq: number; event: string | null; cancelled: string | null; lost_nodes?: number }>;

const PENDING = `select seq, event, cancelled, cardinality(lost_nodes) as lost_nodes
from gdn_inbox where ${SAME_INSTANCE} and pending order by seq`;

function entryOf(instance: AgentAddress, { seq, event, cancelled, lost_nodes: takeOvers = 0 }: EntryRow): InboxEntry {
  const decoded = decodeEvent(instance, seq, event);
  return { seq, event: decoded, ...(cancelled !== null && { cancelled }), ...(takeOvers > 0 && { takeOvers }) };
}

/** An event that is there: accepted by a lost run of this call, or by an earlier delivery. */
function knownAs(instance: AgentAddress, { known, attempt, event, cancelled }: AcceptOutcome, own: string): Accepted {
  if (attempt === own) return { accepted: true, duplicate: false, seq: known ?? 0 };
  if (event === null) return { accepted: true, duplicate: true };
  return { accepted: true, duplicate: true, pending: entryOf(instance, { seq: known ?? 0, event, cancelled }) };
}

function connectionLost(connection: string): GoondanError {
  return new GoondanError('E_FENCED', `This node does not run the connection ${JSON.stringify(connection)} any more.`);
}

function inboxFull({ agentName, instanceKey }: AgentAddress, { waiting, bytes }: RoomOutcome): GoondanError {
  const whose = `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
  const message = `The inbox of ${whose} is full: ${waiting ?? 0} events waiting, ${bytes ?? 0} bytes`;
  return new GoondanError('E_INBOX_FULL', message, { retryable: true });
}

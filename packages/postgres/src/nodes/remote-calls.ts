/**
 * Requests of instances of this node to instances of other nodes. One statement a second reads the state of all watched
 * requests, while there are some, and at once after a hint. The answer stays in the store until the caller's turn is
 * committed: another node may have to run this turn again, and then asks for the same answer.
 */
import type { RemoteCalls } from '@goondan/runtime/history';
import { type Clock, decodeReply, systemClock } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError, type JsonValue } from '@goondan/types';
import type { Row } from '../driver/database.ts';
import { notifyExpression } from '../store/wake-channel.ts';
import type { SwarmRows } from './swarm-rows.ts';
import { readCircle, readHeld } from './waiting-instances.ts';

export interface RemoteCallsOptions extends SwarmRows {
  /** The id of this node: the owner of its instances. */
  readonly node: string;
  readonly clock?: Clock;
  readonly readMs?: number;
  /** Called for an error that is not just a store that is away, and for an answer that cannot be read. */
  readonly report?: (error: GoondanError) => void;
}

interface WatchedCall {
  readonly callee: AgentAddress;
  hasBegun: boolean;
}

interface CallRow extends Row {
  readonly event_id: string;
  readonly began: boolean;
  readonly reply: string | null;
}

const READ_MS = 1000;
/** The first look at a new request. A caller that was taken over may find its answer there. */
const FIRST_READ_MS = 50;

const CALLS = `select call.event_id, coalesce(b.began or not b.pending, false) as began, a.reply
from unnest($2::text[], $3::text[], $4::text[]) as call (agent, key, event_id)
left join gdn_inbox b on b.swarm = $1 and b.agent = call.agent and b.key = call.key and b.event_id = call.event_id
left join gdn_answer a on a.swarm = $1 and a.agent = call.agent and a.key = call.key and a.event_id = call.event_id
where b.began or not b.pending or a.reply is not null`;

/** $4 owner, $5 events, $6 replies. The fence is the owner: no other claim of this node is needed to give up a request. */
const failStatement = (channel: string | undefined) => `with own as (
  select 1 from gdn_instance where swarm = $1 and agent = $2 and key = $3 and owner = $4 for share
), failed as (
  update gdn_inbox b set cancelled = 'the agent could not start'
  from own, unnest($5::text[], $6::text[]) as given (event_id, reply)
  where b.swarm = $1 and b.agent = $2 and b.key = $3 and b.event_id = given.event_id and b.pending
    and b.cancelled is null and b.caller_agent is not null
  returning b.event_id, b.seq, b.caller_agent, b.caller_key, given.reply
), answered as (
  insert into gdn_answer (swarm, agent, key, event_id, seq, caller_agent, caller_key, reply)
  select $1, $2, $3, event_id, seq, caller_agent, caller_key, reply from failed
  on conflict (swarm, agent, key, event_id) do nothing
)
select ${channel === undefined ? 'null::text' : notifyExpression(`'${channel}'`, 'answer', { node: 'asked.owner', agent: 'asked.agent', key: 'asked.key' })} as told
from failed join gdn_instance asked
  on asked.swarm = $1 and asked.agent = failed.caller_agent and asked.key = failed.caller_key and asked.owner <> $4`;

export class PostgresCalls implements RemoteCalls {
  readonly #clock: Clock;
  readonly #watched = new Map<string, WatchedCall>();
  readonly #began: Parameters<RemoteCalls['onBegan']>[0][] = [];
  readonly #answered: Parameters<RemoteCalls['onAnswered']>[0][] = [];
  #timer: { readonly at: number; readonly callOff: () => void } | undefined;
  #reading: Promise<void> | undefined;
  #isReadWanted = false;
  #isClosed = false;

  constructor(private readonly options: RemoteCallsOptions) {
    this.#clock = options.clock ?? systemClock;
  }

  watch(callee: AgentAddress, eventId: string): void {
    this.#watched.set(eventId, { callee, hasBegun: false });
    this.#readAfter(Math.min(FIRST_READ_MS, this.#readMs));
  }

  forget(eventId: string): void {
    this.#watched.delete(eventId);
  }

  onBegan(listener: Parameters<RemoteCalls['onBegan']>[0]): void {
    this.#began.push(listener);
  }

  onAnswered(listener: Parameters<RemoteCalls['onAnswered']>[0]): void {
    this.#answered.push(listener);
  }

  async taken(_callee: AgentAddress, eventId: string): Promise<void> {
    this.forget(eventId);
  }

  findCircle(instance: AgentAddress): Promise<readonly AgentAddress[] | undefined> {
    return readCircle(this.options, instance);
  }

  async fail(callee: AgentAddress, answers: Parameters<RemoteCalls['fail']>[1]): Promise<void> {
    const { database, swarm, channel, node } = this.options;
    await database.query(failStatement(channel), [
      ...[swarm, callee.agentName, callee.instanceKey, node],
      answers.map(({ eventId }) => eventId),
      answers.map(({ reply }) => reply),
    ]);
  }

  async held(): Promise<readonly AgentAddress[]> {
    const callees = [...this.#watched.values()].map(({ callee }) => callee);
    return callees.length === 0 ? [] : readHeld(this.options, callees);
  }

  /** Reads the watched requests now, or once more after the statement under way. Never rejects. */
  read(): Promise<void> {
    if (this.#isClosed || this.#watched.size === 0) return Promise.resolve();
    this.#isReadWanted = this.#reading !== undefined;
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
      if (this.#isReadWanted) void this.read();
    });
    return this.#reading;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.callOff();
    await this.#reading;
  }

  get #readMs(): number {
    return this.options.readMs ?? READ_MS;
  }

  #readAfter(ms: number): void {
    const at = this.#clock.elapsed() + ms;
    if (this.#isClosed || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.callOff();
    const callOff = this.#clock.after(ms, () => {
      this.#timer = undefined;
      void this.read();
    });
    this.#timer = { at, callOff };
  }

  async #readOnce(): Promise<void> {
    const { database, swarm, report } = this.options;
    const calls = [...this.#watched].map(([eventId, { callee }]) => ({ eventId, ...callee }));
    try {
      const rows = await database.query<CallRow>(CALLS, [
        swarm,
        calls.map(({ agentName }) => agentName),
        calls.map(({ instanceKey }) => instanceKey),
        calls.map(({ eventId }) => eventId),
      ]);
      if (!this.#isClosed) for (const row of rows) this.#tell(row);
    } catch (error) {
      if (!GoondanError.is(error)) throw error;
      if (error.code !== 'E_STORE_AWAY') report?.(error);
    }
    if (this.#watched.size > 0) this.#readAfter(this.#readMs);
  }

  #tell({ event_id: eventId, began, reply }: CallRow): void {
    const call = this.#watched.get(eventId);
    if (call === undefined) return;
    if (began && !call.hasBegun) {
      call.hasBegun = true;
      for (const listener of this.#began) listener(call.callee, eventId);
    }
    if (reply === null) return;
    // Safe: the text was made by `encodeReply`.
    const read = decodeReply(JSON.parse(reply) as JsonValue);
    if (read === undefined) {
      this.options.report?.(new GoondanError('E_STORE_READ', `The answer to the event ${eventId} cannot be read.`));
      return;
    }
    for (const listener of this.#answered) listener(call.callee, eventId, read.result, read.usage);
  }
}

/**
 * The way to a swarm in PostgreSQL: joins all seams of the store to the place of one node.
 *
 * A node has three groups of connections, so that one never waits for another: the lease, the work on conversations, and
 * the records for people.
 */
import type { ClusterSource, ClusterStore, ConversationLog, Inbox, NodeFacts } from '@goondan/runtime/history';
import type { Clock } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { type Database, openDatabase } from './driver/database.ts';
import { addressReader, type GivenAddress, type StoreAddress } from './driver/address.ts';
import { isRefusedLogin } from './driver/coded-error.ts';
import { repeating } from './driver/repeat.ts';
import { PostgresConnections } from './nodes/connection-leases.ts';
import { PostgresDeployments } from './nodes/deployments.ts';
import { joinNodes, type NodePlacement } from './nodes/placement.ts';
import { PostgresCalls } from './nodes/remote-calls.ts';
import { postgresTokens } from './nodes/tokens.ts';
import { WakeUps } from './nodes/wake-ups.ts';
import { postgresAdmin } from './store/admin.ts';
import { postgresAnswers } from './store/answers.ts';
import { postgresBlobs } from './store/blobs.ts';
import { PostgresQuestions } from './store/questions.ts';
import { PostgresCounters } from './store/counters.ts';
import { listInstances } from './store/directory.ts';
import { PostgresLog } from './store/conversation-log.ts';
import { openDescriptions } from './store/describe-swarm.ts';
import { openEventSink } from './store/event-sink.ts';
import { PostgresInbox } from './store/inbox.ts';
import { findPending } from './store/read-pending.ts';
import { openLogSink } from './store/log-sink.ts';
import { readersOf } from './store/open-reader.ts';
import { queryOf } from './store/store-context.ts';
import { sweepHourly } from './store/sweep-hourly.ts';
import { openTraceSink } from './store/trace-sink.ts';
import { channelOf } from './store/wake-channel.ts';

export interface PostgresSourceOptions {
  /** A function reads it again at each connect. */
  readonly address: GivenAddress;
  /** The swarm's name in the store. */
  readonly swarm: string;
  readonly leaseMs?: number;
  /** The time between two scans. */
  readonly scanMs?: number;
  /** The time in which a statement about conversations is answered. A statement that is too late is repeated with more. */
  readonly statementMs?: number;
  readonly clock?: Clock;
}

export const LEASE_MS = 10_000;
/** A connection for the renewal, and one for the next renewal when the first one hangs. */
const LEASE_CONNECTIONS = 2;
const WORK_CONNECTIONS = 10;
const RECORD_CONNECTIONS = 2;
/** The time for a statement about the lease, at least: the first one also connects. */
const FEWEST_STATEMENT_MS = 1000;

/** Nothing is connected before `join`. **Errors** — `E_STORE_ADDRESS`. */
export function postgresSource(options: PostgresSourceOptions): ClusterSource {
  let last: NodePlacement | undefined;
  return {
    swarm: options.swarm,
    async join(facts, report = () => undefined) {
      const cutOff = last === undefined || last.stoodStill ? {} : { cutOff: last.id };
      const { store, placement } = await join({ ...options, report, ...cutOff }, facts);
      last = placement;
      return store;
    },
  };
}

interface JoinOptions extends PostgresSourceOptions {
  readonly report: (problem: string) => void;
  readonly cutOff?: string;
}

async function join(options: JoinOptions, facts: NodeFacts) {
  const { leaseMs = LEASE_MS, statementMs, report } = options;
  const address = addressReader(options.address)();
  const renewalMs = Math.max(FEWEST_STATEMENT_MS, leaseMs / 3);
  const named = { name: facts.name, onProblem: report };
  const lease = openDatabase(options.address, { ...named, connections: LEASE_CONNECTIONS, statementMs: renewalMs });
  const patience = statementMs === undefined ? {} : { statementMs };
  const work = openDatabase(options.address, { ...named, connections: WORK_CONNECTIONS, ...patience });
  const records = openDatabase(options.address, { ...named, connections: RECORD_CONNECTIONS });
  const closeAll = async () => void (await Promise.all([lease, work, records].map((database) => database.close())));
  try {
    return await openStore({ ...options, address }, facts, { lease, work, records, closeAll });
  } catch (error) {
    await closeAll();
    throw error;
  }
}

interface Databases {
  readonly lease: Database;
  readonly work: Database;
  readonly records: Database;
  readonly closeAll: () => Promise<void>;
}

async function openStore(
  {
    swarm,
    address,
    leaseMs = LEASE_MS,
    scanMs,
    clock,
    report,
    cutOff,
  }: JoinOptions & { readonly address: StoreAddress },
  facts: NodeFacts,
  { lease, work, records, closeAll }: Databases,
): Promise<{ readonly store: ClusterStore; readonly placement: NodePlacement }> {
  const common = { swarm, ...(address.mayNotify && { channel: channelOf(swarm) }), ...(clock && { clock }) };
  const placement = await joinNodes({
    ...common,
    database: lease,
    work,
    facts,
    leaseMs,
    ...(cutOff !== undefined && { cutOff }),
  });
  const { mayRepeat } = placement;
  const context = { ...common, database: work, node: placement.id, mayRepeat };
  // The readers of a node wait for a store that is away, like its writers.
  const patient: Database = { ...work, query: repeating(work, mayRepeat) };
  const rows = { ...common, database: patient };

  const readers = readersOf(patient, swarm);
  const log = new PostgresLog(context);
  placement.beforeRelease = async (instance) => {
    await (instance === undefined ? log.close() : log.settle(instance).catch(() => undefined));
  };
  const blobs = postgresBlobs({ query: queryOf(context), swarm });
  const admin = postgresAdmin(context, {
    log,
    blobs,
    history: readers.history,
    onDeleted: (instance) => void placement.loseInstance(instance, deletedError(instance)),
  });
  const tell = (error: GoondanError) => {
    // The connection has told it.
    if (!isRefusedLogin(error)) report(`${error.code}: ${error.message}`);
  };
  const questions = await PostgresQuestions.open(context, { report: tell, ...(scanMs !== undefined && { scanMs }) });
  const counters = new PostgresCounters(context, { epochOf: (instance) => placement.epochOf(instance) });
  const inbox = new PostgresInbox(context);
  const calls = new PostgresCalls({
    ...rows,
    node: placement.id,
    report: tell,
    ...(scanMs !== undefined && { readMs: scanMs }),
  });
  const deployments = new PostgresDeployments(rows);
  const wakeUps = new WakeUps({
    ...common,
    database: work,
    placement,
    onInput: (instance) => inbox.wake(instance),
    onAnswer: () => void calls.read(),
    onQuestion: () => questions.changed(),
    onDeployed: (deployed) => deployments.heard(deployed),
    report: tell,
    ...(scanMs !== undefined && { scanMs }),
  });
  const recording = { report, ...(clock && { clock }) };
  const traceSink = openTraceSink(records, swarm, recording);
  const eventSink = openEventSink(records, swarm, recording);
  const logSink = openLogSink(records, swarm, facts.name, recording);
  wakeUps.start();
  const sweeps = sweepHourly(blobs, { report, ...(clock && { clock }) });

  const store: ClusterStore = {
    ...readers,
    ...openDescriptions(patient, swarm, report),
    listInstances: (page) => listInstances(patient, swarm, page),
    placement,
    log: fencedLog(log, placement),
    inbox: notedInbox(inbox, wakeUps),
    answers: postgresAnswers(context),
    blobs,
    questions,
    counters,
    admin,
    deadLetters: admin.deadLetters,
    calls,
    connections: new PostgresConnections(rows, placement),
    deployments,
    tokens: postgresTokens(patient),
    findPending: (beginnings) => findPending(patient, swarm, beginnings),
    traceSink,
    eventSink,
    logSink,
    /** Leaves the swarm, unless the node has left it before. */
    async close() {
      sweeps.close();
      await wakeUps.close();
      await calls.close();
      await counters.close();
      if (!placement.isOver) await placement.leave().catch((error: unknown) => report(String(error)));
      await log.close();
      await questions.close();
      for (const sink of [traceSink, eventSink, logSink]) await sink.close();
      await closeAll();
    },
  };
  return { store, placement };
}

/** A log whose refused writes tell the placement that the instance is lost (S-02). */
function fencedLog(log: PostgresLog, placement: NodePlacement): ConversationLog {
  const guarded = async <Result>(instance: AgentAddress, action: Promise<Result>, epoch?: number): Promise<Result> => {
    try {
      return await action;
    } catch (error) {
      const isFenced = GoondanError.is(error) && error.code === 'E_FENCED';
      // A write under an earlier claim leaves the frames of the claim in force alone.
      if (isFenced && placement.loseInstance(instance, error, epoch)) log.forget(instance);
      throw error;
    }
  };
  return {
    load: (instance) => guarded(instance, log.load(instance)),
    append: (instance, epoch, frame) => guarded(instance, log.append(instance, epoch, frame), epoch),
    putCheckpoint: (instance, epoch, checkpoint) =>
      guarded(instance, log.putCheckpoint(instance, epoch, checkpoint), epoch),
  };
}

/** An inbox that notes own accepts, so that the scan does not tell this node of them. */
function notedInbox(inbox: PostgresInbox, wakeUps: WakeUps): Inbox {
  return {
    checkRoom: (instance, event, under) => inbox.checkRoom(instance, event, under),
    async accept(instance, event, under) {
      const accepted = await inbox.accept(instance, event, under);
      if (!accepted.duplicate) wakeUps.accepted(instance, accepted.seq);
      return accepted;
    },
    cancel: (instance, eventId, reason) => inbox.cancel(instance, eventId, reason),
    pendingEntries: (instance) => inbox.pendingEntries(instance),
    handled: () => inbox.handled(),
    onWake: (listener) => inbox.onWake(listener),
  };
}

function deletedError({ agentName, instanceKey }: AgentAddress): GoondanError {
  return new GoondanError('E_FENCED', `Instance ${JSON.stringify(instanceKey)} of agent "${agentName}" was deleted.`);
}

/**
 * A store that many nodes share. A node opens it with `ClusterSource.join`; `@goondan/postgres` implements it. Files do
 * not: they have one node.
 */
import type { AgentAddress, TokenUsage, TurnResult } from '@goondan/types';
import type { LogLine } from '../ports/log-line.ts';
import type { RecordedAgent } from '../workspace/swarms/agent-descriptions.ts';
import type { ConversationLog, StoredAnswer } from './conversation-log.ts';
import type { Placement, StoreNode } from './placement.ts';
import type { Store } from './store.ts';

/** The way to a shared store. It is opened again after the node has lost its place. */
export interface ClusterSource {
  /** The swarm's name in the store. */
  readonly swarm: string;
  /**
   * Joins the swarm as a node. `report` is told of problems that no caller gets as an error, for example why a connection
   * cannot be made. It must not throw, nor write to the store's log.
   *
   * **Errors** — `E_STORE_AWAY`, `E_STORE_SCHEMA`, `E_NODE_TAKEN`.
   */
  join(facts: NodeFacts, report?: (problem: string) => void): Promise<ClusterStore>;
}

/** A node as it describes itself when it joins. */
export interface NodeFacts {
  /** The name, which is unique among the living nodes of the swarm. */
  readonly name: string;
  /** The random id of this start of the node. */
  readonly start: string;
  /** Earlier starts that have ended for certain, at most a few. A living node of the same name that has none of them is left alone. */
  readonly ended?: readonly string[];
  readonly version: string;
  /** The address of the control port, as `host:port`, and the fingerprint of its certificate. */
  readonly control?: { readonly address: string; readonly certificate: string };
  /** The token with which the node asks the others. The store keeps its hash, so that nobody removes it unknowingly. */
  readonly token?: string;
}

export interface ClusterStore extends Omit<Store, 'placement' | 'conversations'> {
  readonly placement: ClusterPlacement;
  readonly log: ConversationLog;
  readonly calls: RemoteCalls;
  readonly connections: ConnectionLeases;
  readonly deployments: Deployments;
  readonly tokens: Tokens;
  readonly logSink: LogSink;
  /**
   * Lists pending events of all instances whose ids begin with one of these texts, at most 1000. **Errors** — those of the
   * store.
   */
  findPending(beginnings: readonly string[]): Promise<readonly PendingEvent[]>;
  /** Lists instances with a conversation or input, in the order of agent and key. */
  listInstances(choice: InstancePage): Promise<readonly StoredInstance[]>;
  /** Records facts for readers; a failure is reported by the store and does not reject. */
  describeSwarm(facts: { readonly swarm: string; readonly folder?: string }): Promise<void>;
  describeAgent(agentName: string, description: RecordedAgent): Promise<void>;
}

export interface PendingEvent {
  readonly instance: AgentAddress;
  readonly eventId: string;
}

export interface StoredInstance extends AgentAddress {
  /** The name of the living node that owns the instance, while the instance has pending input. */
  readonly workingAt?: string;
}

/** The part of a list of instances to read. */
export interface InstancePage {
  readonly agents: readonly string[];
  /** The most instances of the page. */
  readonly most: number;
  /** The last instance of the page before; absent for the first page. */
  readonly after?: AgentAddress | undefined;
  /** True for only the instances with dead letters. */
  readonly hasLetters?: boolean;
}

export interface ClusterPlacement extends Placement {
  /** The node that owns the instance and lives; `undefined` when there is none. */
  ownerOf(instance: AgentAddress): Promise<ClusterNode | undefined>;
  /**
   * Returns the epoch of this node's claim if the instance had no frame when it was claimed; once for each claim. A process
   * that gets the epoch does not read the conversation before its first frame.
   */
  takeNewEpoch(instance: AgentAddress): number | undefined;
  /** Lists the living nodes. */
  nodes(): Promise<readonly ClusterNode[]>;
  /** Sets the function that counts the processes of this node. Other nodes see the number of the last renewal of the lease. */
  setLoad(count: () => number): void;
  /** Leaves these agents to other nodes, for example because a secret of theirs is missing here. */
  refuseAgents(names: ReadonlySet<string>): void;
  /** Calls the listener when somebody asks this node to give up its instances; once, also for an earlier request. */
  onDrain(listener: () => void): void;
  /** Asks a node to give up its instances. **Errors** — `E_NODE_UNKNOWN`. */
  drain(name: string): Promise<void>;
  onFailover(listener: FailoverListener): void;
}

export interface FailoverListener {
  /** A node has stopped, or its lease has ended. */
  gone(node: string): void;
  /** This node has claimed an instance with an unfinished turn of a node whose lease has ended. */
  takenOver(instance: AgentAddress, from: string): void;
}

export interface ClusterNode extends StoreNode {
  readonly version: string;
  readonly control?: NodeFacts['control'];
  /** The number of its processes. */
  readonly load: number;
  /** The number of instances that it owns. */
  readonly instances: number;
  readonly isDraining: boolean;
  /** The bundle of the node; absent until the node has started. */
  readonly bundle?: BundleOfNode;
}

export interface BundleOfNode {
  /** The digest of the bundle that the node runs. */
  readonly digest: string;
  /** The last deployed bundle, if the node could not take it. */
  readonly refused?: { readonly digest: string; readonly problem: string };
}

/** Requests of instances of this node to instances of other nodes. */
export interface RemoteCalls {
  /** Begins to watch a request. The listeners are called until `forget`. */
  watch(callee: AgentAddress, eventId: string): void;
  forget(eventId: string): void;
  /** Calls the listener once for a watched request whose turn has begun. */
  onBegan(listener: (callee: AgentAddress, eventId: string) => void): void;
  /** Calls the listener when the answer of a watched request is committed; again each second until `taken` or `forget`. */
  onAnswered(listener: (callee: AgentAddress, eventId: string, result: TurnResult, usage?: TokenUsage) => void): void;
  /**
   * Notes that the caller's process has the answer. The store keeps the answer until the caller's turn is committed,
   * because another node may have to run that turn again.
   */
  taken(callee: AgentAddress, eventId: string): Promise<void>;
  /**
   * Returns the instances of a circle in which this instance waits for itself, through pending requests of any node. The
   * list begins and ends with this instance. Returns `undefined` when there is none.
   */
  findCircle(instance: AgentAddress): Promise<readonly AgentAddress[] | undefined>;
  /**
   * Answers pending requests to an instance of this node that cannot start, and cancels them. Requests of which the store
   * knows no caller are ignored, and all of them if another node owns the instance.
   */
  fail(callee: AgentAddress, answers: readonly Pick<StoredAnswer, 'eventId' | 'reply'>[]): Promise<void>;
  /** Lists the watched callees that wait for people, directly or through other agents. */
  held(): Promise<readonly AgentAddress[]>;
}

/** The right to run a connection. One node has it. */
export interface ConnectionLeases {
  /** Returns the lease, or `undefined` while another node has it. **Errors** — `E_FENCED`. */
  claim(connection: string): Promise<ConnectionLease | undefined>;
}

export interface ConnectionLease {
  readonly epoch: number;
  /** Returns the files of the connection's folder, packed; `undefined` when it has none. */
  readFolder(): Promise<Uint8Array | undefined>;
  /** Keeps the files. **Errors** — `E_FENCED` when another node has the connection. */
  writeFolder(files: Uint8Array): Promise<void>;
  release(): Promise<void>;
}

/** The fence of an event from a connection: it is accepted only while this lease is valid. */
export interface ConnectionFence {
  readonly connection: string;
  readonly epoch: number;
}

/** The bundle that the nodes of a swarm run. */
export interface Deployments {
  current(): Promise<Deployment | undefined>;
  /** Returns the packed bundle. **Errors** — `E_STORE_READ` when it does not exist. */
  read(digest: string): Promise<Uint8Array>;
  /**
   * Stores a bundle and makes it the current one, if the current one is `base`; `null`: there is none. Without `base`, in
   * any case. Returns false, and changes nothing, otherwise.
   */
  put(bundle: NewDeployment): Promise<boolean>;
  /** Records the bundle of a living node for readers. */
  tell(node: string, bundle: BundleOfNode): Promise<void>;
  /** Calls the listener when another bundle becomes the current one. Returns a function that ends the calls. */
  onChange(listener: (deployed: Deployment) => void): () => void;
}

export interface Deployment {
  readonly digest: string;
  readonly at: Date;
  readonly by: string;
}

export interface NewDeployment {
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly by: string;
  readonly base?: string | null;
}

export type TokenScope = 'operate' | 'read';

/** Tokens of people and nodes. Only their hashes are stored. */
export interface Tokens {
  /** Returns the name and the scope of a token; `undefined` if it is unknown. */
  check(token: string): Promise<{ readonly name: string; readonly scope: TokenScope } | undefined>;
}

/** Keeps the log lines of a node, in chunks, bounded. It never throws. */
export interface LogSink {
  write(line: LogLine): void;
  close(): Promise<void>;
}

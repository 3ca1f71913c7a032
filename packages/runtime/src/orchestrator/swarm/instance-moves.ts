/**
 * Instances that leave this node: lost to another node, given up because the node drains, or released because they slept
 * for a while. Their input is in the store, and their next owner handles it.
 */
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import type { Approvals } from '../approvals/approvals.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Instances } from '../instances/instances.ts';
import type { OwnedInstances } from '../instances/owned-instances.ts';
import { RestingInstances } from '../instances/resting-instances.ts';
import type { Keepers } from '../keepers/keepers.ts';
import type { AgentCalls } from '../router/agent-calls.ts';
import type { Mailboxes } from '../router/mailboxes.ts';
import type { UnreadInboxes } from '../router/unread-inboxes.ts';
import type { TurnWaiters } from '../watch/turn-waiters.ts';

export interface InstanceMovesDeps {
  readonly clock: Clock;
  readonly owned: OwnedInstances;
  readonly instances: Instances;
  readonly mailboxes: Pick<Mailboxes, 'between'>;
  readonly unread: Pick<UnreadInboxes, 'delete'>;
  readonly approvals: Pick<Approvals, 'moved'>;
  readonly calls: Pick<AgentCalls, 'moved' | 'acceptedElsewhere'>;
  readonly waiters: Pick<TurnWaiters, 'failed'>;
  readonly keepers?: Pick<Keepers, 'endConversation'>;
}

/** The time that a turn may take before its instance is given up: a day, because a move is not urgent. */
const GIVE_UP_MS = 86_400_000;

export class InstanceMoves {
  readonly #resting: RestingInstances;

  constructor(private readonly deps: InstanceMovesDeps) {
    this.#resting = new RestingInstances({ ...deps, release: (at) => this.#release(at) });
  }

  /**
   * Forgets an instance that does not belong to this node any more, and kills its process. Who waits for it here gets
   * `E_FENCED`, and can ask the node that owns it.
   */
  moved(at: AgentAddress): void {
    const { owned, instances, unread, approvals, calls, keepers, waiters } = this.deps;
    owned.lost(at);
    if (instances.find(at) !== undefined) instances.post(at, { type: 'moved' });
    instances.forget(at);
    unread.delete(at);
    approvals.moved(at);
    calls.moved(at);
    void keepers?.endConversation(at);
    waiters.failed(at, elsewhereError(at));
  }

  /** Kills all processes at once, because this node has lost its place. */
  lostAll(): void {
    this.deps.owned.giveUp();
    for (const { address } of [...this.deps.instances.all()]) this.moved(address);
  }

  /** Gives up all instances, each when its turn has ended. Their other events wait for the next owner. */
  async giveUpAll(): Promise<void> {
    const { owned, instances, mailboxes } = this.deps;
    owned.giveUp();
    const giveUp = (at: AgentAddress) =>
      instances.whileAsleep(at, { graceMs: GIVE_UP_MS }, () => mailboxes.between(at, () => this.#leave(at)));
    await Promise.all(owned.all().map(giveUp));
  }

  slept(at: AgentAddress): void {
    this.#resting.slept(at);
  }

  /** Handles an event that was accepted here, for an instance of another node. */
  acceptedElsewhere(to: AgentAddress, event: AgentEvent): void {
    const { instances, calls, waiters } = this.deps;
    instances.forget(to);
    calls.acceptedElsewhere(to, event);
    waiters.failed(to, elsewhereError(to));
  }

  close(): void {
    this.#resting.close();
  }

  /** Releases an instance that sleeps, unless it has work again. */
  async #release(at: AgentAddress): Promise<void> {
    const { instances, mailboxes } = this.deps;
    await mailboxes.between(at, async () => {
      const { hasProcess = false, state } = instances.find(at) ?? {};
      if (!hasProcess && (state?.queue.length ?? 0) === 0) await this.#leave(at);
    });
  }

  async #leave(at: AgentAddress): Promise<void> {
    await this.deps.owned.release(at);
    this.moved(at);
  }
}

function elsewhereError({ agentName, instanceKey }: AgentAddress): GoondanError {
  const message = `Conversation ${JSON.stringify(instanceKey)} of agent "${agentName}" belongs to another node.`;
  return new GoondanError('E_FENCED', message, { retryable: true });
}

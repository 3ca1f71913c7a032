/**
 * Work on whole instances, at the node that owns them, while they have no process. A deletion is one statement, and so is a
 * fork: after a crash, an instance exists completely or not at all.
 */
import type { AgentAddress, AgentEvent, ReplyAddress } from '@goondan/types';
import type { DeadLetters, HistoryReader, InstanceAdmin, Spending } from '@goondan/runtime/history';
import {
  addInputDamage,
  encodeReply,
  forkFrames,
  isCorrupt,
  lettersOf,
  nameInstance,
  openLoggedAdmin,
  openSpending,
  pendingInputs,
  readFork,
  takenKey,
  turnIdOf,
  unknownInstance,
} from '@goondan/runtime/internal';
import { DELETE, type DeleteOutcome, FORK, forkValues, type ForkOutcome } from './admin-statements.ts';
import type { PostgresBlobs } from './blobs.ts';
import type { PostgresLog } from './conversation-log.ts';
import { spendingText } from './spending-rows.ts';
import { keyOf, notTheOwner, ownerQueryOf, queryOf, SAME_INSTANCE, type StoreContext } from './store-context.ts';

export interface AdminOptions {
  readonly log: PostgresLog;
  readonly blobs: Pick<PostgresBlobs, 'share' | 'removeUnused'>;
  readonly history: Pick<HistoryReader, 'history' | 'readIntact' | 'pending'>;
  /** Called when an instance was deleted: the node does not own it any more. */
  readonly onDeleted?: (instance: AgentAddress) => void;
}

interface OwnedRow extends Readonly<Record<string, unknown>> {
  readonly epoch: number | null;
  readonly exists: boolean;
}

export function postgresAdmin(
  context: StoreContext,
  { log, blobs, history, onDeleted }: AdminOptions,
): InstanceAdmin & { readonly deadLetters: DeadLetters } {
  const query = queryOf(context);
  const ownerQuery = ownerQueryOf(context);
  const logged = openLoggedAdmin(log);

  async function find(instance: AgentAddress): Promise<OwnedRow | undefined> {
    const [row] = await query<OwnedRow>(FIND, [...keyOf(context, instance), context.node]);
    return row?.exists === true ? row : undefined;
  }

  /** The answers to pending requests of other instances: without one, they would wait for their time limit. */
  async function answersOf(instance: AgentAddress): Promise<readonly DeletedAnswer[]> {
    const rows = await query<{ readonly event_id: string; readonly event: string | null }>(
      REQUESTS,
      keyOf(context, instance),
    );
    const message = `The conversation of ${nameInstance(instance)} was deleted before it answered.`;
    return rows.map(({ event_id: eventId, event }) => ({ eventId, reply: deletedReply(eventId, event, message) }));
  }

  /** The model calls of a turn that is not committed. Those of a damaged log are lost with it. */
  async function readOpenSpending(instance: AgentAddress): Promise<readonly Spending[]> {
    await log.settle(instance).catch(() => undefined);
    try {
      return openSpending(instance, await readStored(instance));
    } catch (error) {
      if (isCorrupt(error)) return [];
      throw error;
    }
  }

  async function readStored(instance: AgentAddress) {
    const [row] = await query<{ checkpoint: string | null; frames: string | null }>(READ, keyOf(context, instance));
    const { checkpoint = null, frames = null } = row ?? {};
    return { ...(checkpoint !== null && { checkpoint }), frames: frames === null ? [] : frames.split('\n') };
  }

  return {
    reset: (instance, ending) => logged.reset(instance, ending),
    has: async (instance) => (await find(instance)) !== undefined,
    async delete(instance, { force = false } = {}) {
      const owned = await find(instance);
      if (owned === undefined) throw unknownInstance(instance);
      if (owned.epoch === null) throw notTheOwner(instance);
      const values = [...keyOf(context, instance), context.node, owned.epoch, force];
      let answers: readonly DeletedAnswer[] = [];
      // Only an instance with pending input can have a turn that is not committed.
      const spent = spendingText(force ? await readOpenSpending(instance) : []);
      for (;;) {
        const [outcome] = await ownerQuery<DeleteOutcome>(DELETE, [
          ...values,
          answers.map(({ eventId }) => eventId),
          answers.map(({ reply }) => reply),
          spent,
        ]);
        const { is_done: isDone = false, is_there: isThere = false, is_owner: isOwner, waiting = 0 } = outcome ?? {};
        // A run of the statement whose answer was lost may have deleted it.
        if (isDone || !isThere) {
          log.forget(instance);
          onDeleted?.(instance);
          // The statement ended the uses. If this fails, the next start removes the bytes.
          await blobs.removeUnused(outcome?.files ?? []).catch(() => undefined);
          return { inputs: waiting };
        }
        if (isOwner !== true) throw notTheOwner(instance);
        if (waiting > 0 && !force) throw pendingInputs(instance, waiting);
        // Otherwise input came in while the statement waited for the row, or other instances wait for an answer.
        answers = await answersOf(instance);
      }
    },
    async fork(from, { as: instanceKey, at }) {
      if ((await find(from)) === undefined) throw unknownInstance(from);
      const { conversation, forked } = await readFork(history, from, at);
      const reported = await addInputDamage(forked, () => history.pending(from));
      const to = { agentName: from.agentName, instanceKey };
      await blobs.share(from, to);
      const [outcome] = await query<ForkOutcome>(
        FORK,
        forkValues(context, to, forkFrames(to, conversation, new Date())),
      );
      if (outcome?.is_done !== true && outcome?.are_there !== true) throw takenKey(to);
      return reported;
    },
    // Nothing is left of an interrupted deletion or fork.
    sweep: async () => undefined,
    deadLetters: {
      async list(instance) {
        await log.settle(instance).catch(() => undefined);
        return lettersOf(instance, await readStored(instance));
      },
      drop: (instance, eventId) => logged.deadLetters.drop(instance, eventId),
    },
  };
}

interface DeletedAnswer {
  readonly eventId: string;
  readonly reply: string;
}

function deletedReply(eventId: string, event: string | null, message: string): string {
  const error = { code: 'E_INSTANCE_DELETED', message };
  const result = { turnId: turnIdOf(eventId), finishReason: 'error', error } as const;
  return JSON.stringify(encodeReply({ replyTo: replyAddressOf(event), result }));
}

/** The caller's node finds the answer by the event. A damaged event does not keep its conversation from being deleted. */
function replyAddressOf(event: string | null): ReplyAddress {
  const unknown = { target: '', correlationId: '' };
  try {
    // Safe: only `encodeEvent` writes these texts.
    return (JSON.parse(event ?? '') as Partial<AgentEvent> | null)?.replyTo ?? unknown;
  } catch {
    return unknown;
  }
}

const REQUESTS = `
select event_id, event from gdn_inbox where ${SAME_INSTANCE} and pending and caller_agent is not null order by seq`;

/** $4 node. `epoch`: that of the claim, if the node owns the instance. An instance that was only claimed does not exist. */
const FIND = `
select case when owner = $4 then epoch end as epoch, last_input > 0 or last_seq > 0 as exists
from gdn_instance where ${SAME_INSTANCE}`;

const READ = `
select checkpoint, (select string_agg(line, E'\\n' order by seq) from gdn_frame where ${SAME_INSTANCE}) as frames
from gdn_instance where ${SAME_INSTANCE}`;

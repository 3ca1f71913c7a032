/** The seams of conversations in a database, as a node and its agent processes use them, without nodes and leases. */
import type { AgentAddress } from '@goondan/types';
import { loggedConversations } from '@goondan/runtime/internal';
import type { Database } from '../driver/database.ts';
import { repeating } from '../driver/repeat.ts';
import { postgresAnswers } from '../store/answers.ts';
import { postgresBlobs } from '../store/blobs.ts';
import { PostgresLog, type PostgresLogOptions } from '../store/conversation-log.ts';
import { PostgresInbox } from '../store/inbox.ts';
import { channelOf } from '../store/wake-channel.ts';
import { claimInstance } from './claim-instance.ts';

export interface OpenStoreOptions extends PostgresLogOptions {
  readonly node?: string;
  readonly mayRepeat?: () => boolean;
  readonly writer?: Parameters<typeof loggedConversations>[2];
  /** See `postgresBlobs`. */
  readonly leftOverMs?: number;
}

/** Opens the seams. A log is loaded with a claim: the caller becomes the owner of every instance that it uses. */
export function openStore(
  database: Database,
  swarm: string,
  { node = 'one', mayRepeat = () => false, writer, leftOverMs, ...options }: OpenStoreOptions = {},
) {
  const context = { database, swarm, node, mayRepeat, channel: channelOf(swarm) };
  const log = new PostgresLog(context, options);
  const answers = postgresAnswers(context);
  const claimed = new Set<string>();
  const claiming = {
    async load(instance: AgentAddress) {
      const name = JSON.stringify([instance.agentName, instance.instanceKey]);
      if (!claimed.has(name)) await claimInstance({ query: repeating(database, mayRepeat) }, swarm, instance, node);
      claimed.add(name);
      return log.load(instance);
    },
    append: log.append.bind(log),
    putCheckpoint: log.putCheckpoint.bind(log),
  };
  const { conversations, close } = loggedConversations(claiming, answers, writer);
  const blobs = postgresBlobs({
    query: repeating(database, mayRepeat),
    swarm,
    ...(leftOverMs !== undefined && { leftOverMs }),
  });
  return { context, log, answers, blobs, inbox: new PostgresInbox(context), conversations, closeProcess: close };
}

/** SQL expressions that send hints to the other nodes. Without a channel they send nothing. */
import { notifyExpression } from '../store/wake-channel.ts';

/** Asks all nodes to scan at once. */
export function scanHint(channel: string | undefined): string {
  return channel === undefined ? 'null::text' : `pg_notify('${channel}', '["scan"]')`;
}

/** Tells all nodes of an instance without an owner that has input. `agent` and `key` are SQL expressions. */
export function freeHint(channel: string | undefined, agent: string, key: string): string {
  return notifyExpression(channel, 'input', { node: `''`, agent, key });
}

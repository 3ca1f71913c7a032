/**
 * Notifications between the nodes of a swarm. A statement that changes something for another node sends one with the same
 * commit. A notification only wakes: a scan finds the same change without it.
 */
import { createHash } from 'node:crypto';
import type { AgentAddress } from '@goondan/types';

export type WakeUp =
  /** Input or a cancel mark for an instance that the node owns. */
  | { readonly type: 'input'; readonly node: string; readonly instance: AgentAddress }
  /** An answer for a caller that the node owns. */
  | { readonly type: 'answer'; readonly node: string; readonly instance: AgentAddress }
  /** A changed approval, for all nodes. */
  | { readonly type: 'approval' };

/** Returns the channel of a swarm. A name of PostgreSQL has at most 63 bytes. */
export function channelOf(swarm: string): string {
  return `gdn_${createHash('sha256').update(swarm).digest('hex').slice(0, 32)}`;
}

/**
 * An expression that sends a wake-up. The arguments are SQL expressions. The server refuses payloads of 8000 bytes or
 * more, so a notification for a very long key is not sent. Without a channel nothing is sent: some databases do not even
 * have the function.
 */
export function notifyExpression(
  channel: string | undefined,
  type: 'input' | 'answer',
  { node, agent, key }: { readonly node: string; readonly agent: string; readonly key: string },
): string {
  if (channel === undefined) return 'null::text';
  const payload = `json_build_array('${type}', ${node}, ${agent}, ${key})::text`;
  return `case when octet_length(${payload}) < 8000 then pg_notify('${channel}', ${payload}) end`;
}

/** Reads a payload. Returns `undefined` for one that this version does not know. */
export function readWakeUp(payload: string): WakeUp | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [type, ...texts] = parsed as readonly unknown[];
  if (type === 'approval') return { type };
  const [node, agentName, instanceKey] = texts.filter((each) => typeof each === 'string');
  if ((type !== 'input' && type !== 'answer') || instanceKey === undefined) return undefined;
  return { type, node: node ?? '', instance: { agentName: agentName ?? '', instanceKey } };
}

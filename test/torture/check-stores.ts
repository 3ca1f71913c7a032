/** Checks the invariants of all stored conversations, no matter which processes were killed. */
import { durableStore } from '@goondan/runtime/history';
import { type Message, textOf } from '@goondan/types';
import { workspace } from './plan.ts';

/** One acknowledged input. */
export interface Acknowledged {
  readonly agent: string;
  readonly instanceKey: string;
  /** The unique name of a job, which the input text contains. */
  readonly job: string;
}

export interface Findings {
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  readonly unreadable: readonly string[];
  /** Descriptions of messages in the wrong instance or order, and of calls that do not have exactly one result. */
  readonly wrong: readonly string[];
  readonly messages: number;
  readonly deadLetters: number;
}

/** Checks all conversations. For each instance, the inputs in `acknowledged` are in the order of acceptance. */
export async function checkStores(stateRoot: string, acknowledged: readonly Acknowledged[]): Promise<Findings> {
  const found = { lost: [] as string[], duplicated: [] as string[], unreadable: [] as string[], wrong: [] as string[] };
  let count = 0;
  let deadLetters = 0;
  const journal = await durableStore({ stateRoot, workspaceId: workspace, warn: () => undefined });
  for (const address of await journal.instances()) {
    const name = `${address.agentName}/${address.instanceKey}`;
    const accepted = acknowledged.filter((each) => `${each.agent}/${each.instanceKey}` === name).map(({ job }) => job);
    try {
      const { messages } = await journal.read(address);
      const waiting = await journal.pending(address);
      if (waiting.length > 0) found.wrong.push(`${name}: ${waiting.length} events were never handled`);
      count += messages.length;
      deadLetters += (await journal.deadLetters.list(address)).length;
      checkConversation(name, messages, accepted, found);
    } catch (error) {
      found.unreadable.push(`${name}: ${String(error)}`);
    }
  }
  const known = new Set((await journal.instances()).map(({ agentName, instanceKey }) => `${agentName}/${instanceKey}`));
  for (const { agent, instanceKey, job } of acknowledged) {
    if (!known.has(`${agent}/${instanceKey}`)) found.lost.push(job);
  }
  await journal.close();
  return { ...found, messages: count, deadLetters };
}

type Lists = { readonly [Key in 'lost' | 'duplicated' | 'wrong']: string[] };

function checkConversation(
  name: string,
  messages: readonly Message[],
  accepted: readonly string[],
  found: Lists,
): void {
  const jobs = messages
    .filter(({ data }) => data.role === 'user')
    .map((message) => textOf(message).split(' ')[1] ?? '');
  const own = new Set(accepted);
  for (const job of accepted) {
    const times = jobs.filter((each) => each === job).length;
    if (times === 0) found.lost.push(`${name}: ${job}`);
    if (times > 1) found.duplicated.push(`${name}: ${job}, ${times} times`);
  }
  const inOrder = jobs.filter((job) => own.has(job));
  if (inOrder.join() !== accepted.filter((job) => jobs.includes(job)).join())
    found.wrong.push(`${name}: another order`);
  const ids = messages.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) found.duplicated.push(`${name}: a message id twice`);
  // The name of a job begins with its owner. A question between agents has the name of the asker.
  const strange = jobs.filter((job) => !own.has(job) && !job.startsWith('asker'));
  if (strange.length > 0) found.wrong.push(`${name}: ${strange.join(', ')} of somebody else`);
  checkPairs(name, messages, found);
}

function checkPairs(name: string, messages: readonly Message[], found: Lists): void {
  const calls = new Map<string, number>();
  for (const { data } of messages) {
    if (typeof data.content === 'string') continue;
    for (const part of data.content) {
      if (part.type === 'tool-call') calls.set(part.toolCallId, 0);
      if (part.type !== 'tool-result') continue;
      const results = calls.get(part.toolCallId);
      if (results === undefined) found.wrong.push(`${name}: a result without its call`);
      else calls.set(part.toolCallId, results + 1);
    }
  }
  for (const [id, results] of calls) if (results > 1) found.wrong.push(`${name}: call ${id} has ${results} results`);
}

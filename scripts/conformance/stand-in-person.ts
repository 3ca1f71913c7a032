/**
 * A person who answers the questions of a swarm: accepts every form with its defaults, and opens every page. The answers go
 * through the control socket, like those of all doors.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectSwarm, type Swarm } from '@goondan/runtime';
import { readForm } from '@goondan/runtime/control';
import type { JsonObject } from '@goondan/types';
import { visit } from './stand-in-browser.ts';

const PAUSE_MS = 50;

/** Answers the questions of the only swarm of a state root until `work` has finished. */
export async function withPerson<Value>(stateRoot: string, work: () => Promise<Value>): Promise<Value> {
  const [workspaceId = ''] = readdirSync(join(stateRoot, 'workspaces'));
  const swarm = await connectSwarm({ stateRoot, workspaceId });
  const seen = new Set<string>();
  const over = new AbortController();
  const answer = async () => {
    for (; !over.signal.aborted; await Bun.sleep(PAUSE_MS)) {
      const open = await swarm.questions();
      for (const question of open.filter(({ id }) => !seen.has(id))) {
        seen.add(question.id);
        await answerQuestion(swarm, question);
      }
    }
  };
  const answering = answer();
  try {
    return await work();
  } finally {
    over.abort();
    await answering;
  }
}

type Question = Awaited<ReturnType<Swarm['questions']>>[number];

async function answerQuestion(swarm: Swarm, { id, digest, kind, url, schema }: Question): Promise<void> {
  process.stdout.write(`asked: ${kind} ${url ?? ''}\n`);
  // The redirect of the page ends the question.
  if (kind === 'page' && url !== undefined) return visit(url);
  const content = kind === 'form' ? { content: defaultsOf(schema) } : {};
  await swarm.answer({ id, digest, decision: 'approved', by: 'conformance', via: 'socket', ...content });
}

/** Returns the values that a form has at first, as the chat and Studio show them. */
function defaultsOf(schema: JsonObject | undefined): JsonObject {
  const fields = readForm(schema);
  if ('problem' in fields) return {};
  return Object.fromEntries(fields.flatMap(({ name, default: given }) => (given === undefined ? [] : [[name, given]])));
}

/** The images and files of a call to another agent. References are passed on; the bytes stay where they are. */
import { type AgentSend, type ContentPart, GoondanError } from '@goondan/types';
import { checkContent } from '../../files/check-content.ts';
import { filesIn } from '../files/files-in.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';

/** Returns the call with all its parts in `content`. **Errors** — `E_AGENT_REQUEST`, `E_FILE_INVALID`, `E_FILE_SIZE`. */
export function withContent<Params extends Pick<AgentSend, 'content' | 'files'>>(
  turn: RunningTurn,
  { files, ...params }: Params,
): Params {
  const { agent } = turn;
  const given = params.content === undefined ? [] : checkContent(params.content, agent.plan.policy, 'agent');
  const content = agent.files.takeContent([...given, ...findFiles(turn, files ?? [])]);
  // Safe: only `files` is left out, which is optional.
  return { ...params, ...(content.length > 0 && { content }) } as Params;
}

/** Finds images and files of the conversation by their names. The newest file of a name counts. */
function findFiles({ conversation }: RunningTurn, names: readonly string[]): readonly ContentPart[] {
  if (names.length === 0) return [];
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw wrong('files must be a list of names');
  }
  const known = new Map<string, ContentPart>();
  for (const { data } of conversation.state.nextMessages) {
    for (const part of filesIn(data)) if (part.filename !== undefined) known.set(part.filename, part);
  }
  return names.map((name) => {
    const part = known.get(name);
    if (part !== undefined) return part;
    const listed = [...known.keys()].slice(-MOST_LISTED).join(', ');
    throw wrong(`the conversation has no file ${JSON.stringify(name)}; it has: ${listed || 'none'}`);
  });
}

const MOST_LISTED = 50;

function wrong(problem: string): GoondanError {
  return new GoondanError('E_AGENT_REQUEST', `A call to another agent: ${problem}.`);
}

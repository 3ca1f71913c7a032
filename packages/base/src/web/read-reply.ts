/** Reads the answer of a person as clients send it. The swarm checks whether it fits the question. */
import { alwaysScopes, type ConnectorReply } from '@goondan/types';
import { isObject } from '../json/is-object.ts';

export type ReplyFields = Pick<ConnectorReply, 'decision' | 'note' | 'args' | 'content' | 'always'>;

const known = ['decision', 'note', 'args', 'content', 'always'];

/** Returns the fields of an answer, or the problem with them. */
export function readReply(fields: Readonly<Record<string, unknown>>): ReplyFields | { readonly problem: string } {
  const { decision, note, args, content, always } = fields;
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) return { problem: `there is no field ${JSON.stringify(unknown.slice(0, 60))}` };
  if (decision !== 'approved' && decision !== 'denied') return { problem: '`decision` must be approved or denied' };
  if (note !== undefined && typeof note !== 'string') return { problem: '`note` must be a text' };
  if (args !== undefined && !isObject(args)) return { problem: '`args` must be an object' };
  if (content !== undefined && !isObject(content)) return { problem: '`content` must be an object' };
  const scope = alwaysScopes.find((each) => each === always);
  if (always !== scope) return { problem: `\`always\` must be one of ${alwaysScopes.join(', ')}` };
  return {
    decision,
    ...(note === undefined ? {} : { note }),
    ...(args === undefined ? {} : { args }),
    ...(content === undefined ? {} : { content }),
    ...(scope === undefined ? {} : { always: scope }),
  };
}

export function describeReplyProblem(problem: string): string {
  return `The answer cannot be used: ${problem}.`;
}

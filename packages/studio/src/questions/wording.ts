/** Words of the terminal. Studio imports only types of other packages, so it has a copy; `test/same-words.test.ts` compares them. */
import type { GrantSummary, InstanceAddress, QuestionView } from '@goondan/cli/studio';

/** Returns the words after the name of the agent, as in `helper wants to run bash__exec`. */
export function describeWish({ kind, toolName }: Pick<QuestionView, 'kind' | 'toolName'>): string {
  if (kind === 'call') return `wants to run ${toolName}`;
  const wishes = {
    change: 'wants to change its bundle',
    budget: 'needs more of a budget',
    form: 'asks you',
    page: 'asks you to open a page',
  };
  return wishes[kind];
}

/** Names the thing that waits, at the beginning of a sentence. */
export function nameSubject({ kind }: Pick<QuestionView, 'kind'>): string {
  const subjects = {
    call: 'A tool call',
    change: 'A change of the bundle',
    budget: 'A model call above a budget',
    form: 'A question',
    page: 'A page to open',
  };
  return subjects[kind];
}

/** Says exactly which calls are allowed, as in `every call of bash__exec, with any arguments`. */
export function describeAlways(always: GrantSummary['always'], toolName: string): string {
  return always === 'tool'
    ? `every call of ${toolName}, with any arguments`
    : `every call of ${toolName} with exactly these arguments`;
}

/** Names the only conversation in which something is always allowed. */
export function describeWhere({ agent, instanceKey }: InstanceAddress): string {
  return `in this conversation of ${agent} (${instanceKey})`;
}

/** Returns one word for the answer. */
export function nameAnswer(
  kind: QuestionView['kind'],
  { decision }: { readonly decision: 'approved' | 'denied' },
): string {
  const isYes = decision === 'approved';
  if (kind === 'form' || kind === 'page') return isYes ? 'Answered' : 'Declined';
  return isYes ? 'Approved' : 'Denied';
}

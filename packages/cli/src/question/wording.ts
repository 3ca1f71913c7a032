/**
 * The words with which people are asked, and told what their answer does: in the chat, in `gdn run`, `gdn send` and `gdn
 * demo`, in `gdn approve`, and in Studio. Pure, and without imports that a browser cannot load.
 */
import type { QuestionSummary } from '@goondan/runtime';
import { type AlwaysScope, alwaysScopesOf, hostOf, type JsonObject } from '@goondan/types';

export type AskedKind = QuestionSummary['kind'];

/** A tool call can also be edited, and always be allowed. */
const keys: Readonly<Record<AskedKind, string>> = {
  call: 'y/n/e/a',
  change: 'y/n',
  budget: 'y/n',
  form: 'y/n/e',
  page: 'y/n',
};

const asks: Readonly<Record<AskedKind, string>> = {
  call: 'Let it run?',
  change: 'Change the bundle?',
  budget: 'Raise the budget?',
  form: 'Send this answer?',
  page: 'Did you open the page?',
};

/** Returns the words after the name of the agent, as in `helper wants to run bash__exec`. */
export function describeWish({ kind, toolName }: Pick<QuestionSummary, 'kind' | 'toolName'>): string {
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
export function nameSubject({ kind }: Pick<QuestionSummary, 'kind'>): string {
  const subjects = {
    call: 'A tool call',
    change: 'A change of the bundle',
    budget: 'A model call above a budget',
    form: 'A question',
    page: 'A page to open',
  };
  return subjects[kind];
}

/** Returns the question, without the keys. */
export function askWords(kind: AskedKind): string {
  return asks[kind];
}

/** Returns the question and the keys that answer it. */
export function promptOf({ kind }: Pick<QuestionSummary, 'kind'>): string {
  return `${asks[kind]} [${keys[kind]}] `;
}

/** Returns the question about arguments that the person edited. */
export const EDITED_PROMPT = `Let it run with these arguments? [${keys.call}] `;

const reasonGoesTo: Readonly<Record<AskedKind, string>> = {
  call: 'which the agent reads',
  change: 'which the agent reads',
  budget: 'which becomes a part of the error',
  form: 'which the agent reads',
  page: 'which the agent reads',
};

const yes: Readonly<Record<AskedKind, string>> = {
  call: 'it runs this time, with exactly these arguments',
  change: 'the bundle gets exactly this change',
  budget: 'the budget grows when the turn goes on',
  form: 'the answer is sent as it is shown',
  page: 'you opened the page, and the turn goes on',
};

/** Explains each key in a line. */
export function explainKeys({ kind }: Pick<QuestionSummary, 'kind'>): readonly string[] {
  return [
    `y  yes: ${yes[kind]}`,
    `n  no; the words after it are the reason, ${reasonGoesTo[kind]}: n not on Friday`,
    ...(kind === 'call' ? ['e  edit the arguments first', 'a  always: not only this time, in this conversation'] : []),
    ...(kind === 'form' ? ['e  go through the fields again'] : []),
  ];
}

type Granted = Pick<QuestionSummary, 'agent' | 'instanceKey' | 'toolName'>;
type Asked = Granted & Pick<QuestionSummary, 'id' | 'kind' | 'args' | 'schema'>;

/** Says exactly which calls are allowed, as in `every call of bash__exec, with any arguments`. */
export function describeAlways(always: AlwaysScope, toolName: string, host = 'the same host'): string {
  const calls = `every call of ${toolName}`;
  if (always === 'host') return `${calls} to ${host}, with any other arguments`;
  return always === 'tool' ? `${calls}, with any arguments` : `${calls} with exactly these arguments`;
}

/** Names the only conversation in which something is always allowed. */
export function describeWhere({ agent, instanceKey }: Pick<Granted, 'agent' | 'instanceKey'>): string {
  return `in this conversation of ${agent} (${instanceKey})`;
}

/** Returns the question for how much is allowed. Each choice is typed as its first letter. */
export function alwaysPromptOf(question: Asked): string {
  const letters = alwaysScopesOf(question).map((scope) => scope.charAt(0));
  return `Always what? [${letters.join('/')}, Enter goes back] `;
}

/** Explains the ways to allow calls always, and how to take that back. */
export function explainAlways(question: Asked): readonly string[] {
  const { id, toolName } = question;
  return [
    `Always, ${describeWhere(question)}, without a question:`,
    ...alwaysScopesOf(question).map(
      (scope) => `${scope.charAt(0)}  ${describeAlways(scope, toolName, hostOf(question))}`,
    ),
    `A changed tool asks again. ${howToRevoke(id)}`,
  ];
}

export function howToRevoke(id: string): string {
  return `\`gdn approve\` lists it, and \`gdn deny ${id}\` revokes it.`;
}

/** The answer of a person, without their name. */
export interface GivenAnswer {
  readonly decision: 'approved' | 'denied';
  readonly always?: AlwaysScope;
  readonly args?: JsonObject;
}

/** Returns one word for the answer. */
export function nameAnswer(
  kind: AskedKind,
  { decision }: { readonly decision: GivenAnswer['decision'] | 'expired' },
): string {
  if (decision === 'expired') return 'Expired';
  const isYes = decision === 'approved';
  if (kind === 'form' || kind === 'page') return isYes ? 'Answered' : 'Declined';
  return isYes ? 'Approved' : 'Denied';
}

/** Says what the answer does, as the end of a sentence; `undefined` if its word says everything. */
export function describeEffect(question: Asked, { decision, always, args }: GivenAnswer): string | undefined {
  const { id, kind, toolName } = question;
  const isYes = decision === 'approved';
  if (kind === 'change') return isYes ? 'the bundle changes when the turn goes on' : 'the bundle stays as it is';
  if (kind === 'budget') return isYes ? 'the budget grows when the turn goes on' : 'the budget stays as it is';
  if (kind !== 'call' || !isYes) return undefined;
  const edited = args === undefined ? '' : 'it runs with your arguments';
  if (always === undefined) return edited === '' ? undefined : edited;
  const host = hostOf({ ...question, ...(args && { args }) });
  const calls = `${describeAlways(always, toolName, host)}${always === 'arguments' ? '' : ','}`;
  const allowed = `${calls} runs without a question from now on, ${describeWhere(question)}`;
  return `${edited === '' ? '' : `${edited}; `}${allowed}. ${howToRevoke(id).slice(0, -1)}`;
}

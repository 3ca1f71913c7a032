/** Reads a line: a slash and a word are a command of the chat, any other line is a message to the agent. */
import { closestName } from '@goondan/runtime/internal';

export type ChatCommand =
  | { readonly name: 'quit' }
  | { readonly name: 'help' | 'questions' | 'status' }
  | Look
  | { readonly name: 'history'; readonly count: number }
  | { readonly name: 'agent'; readonly agent?: string; readonly instanceKey?: string }
  | { readonly name: 'new'; readonly instanceKey?: string };

/** A command that shows what a command of `gdn` shows. */
export type Look =
  | { readonly name: 'usage' | 'tools' }
  /** `id`: that of a turn or a trace; the latest turn of the conversation when absent. */
  | { readonly name: 'trace'; readonly id?: string };

export type ReadInput =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'command'; readonly command: ChatCommand }
  | { readonly type: 'mistake'; readonly problem: string };

/** The commands with their descriptions, in the order of `/help`. */
export const commandHelp: readonly (readonly [usage: string, does: string])[] = [
  ['/help', 'the list of commands'],
  ['/history [NUMBER]', 'more of the conversation (20 messages)'],
  ['/agent [NAME [KEY]]', 'talk to another agent; without a name, list the agents'],
  ['/new [KEY]', 'another conversation with this agent'],
  ['/questions', 'answer the questions that you left open'],
  ['/status', 'the running agents'],
  ['/usage', 'the model calls, the tokens and the cost of the swarm'],
  ['/trace [ID]', 'what every layer of a turn did; without an id, of the latest one here'],
  ['/tools', 'the tools of this agent'],
  ['/quit', 'leave; so does Ctrl-D'],
];

export const commandNames: readonly string[] = commandHelp.map(([usage]) => usage.replace(/ .*/, ''));

const HISTORY = 20;
const MOST_HISTORY = 10_000;

/** Returns true for a command that leaves the conversation. */
export function leavesConversation({ name }: ChatCommand): boolean {
  return name === 'quit' || name === 'agent' || name === 'new';
}

/** `//text` sends the message `/text`. A path such as `/usr/bin` is a message, too. */
export function readInput(text: string): ReadInput {
  if (text.startsWith('//')) return { type: 'message', text: text.slice(1) };
  const [, word, rest = ''] = /^\/([A-Za-z]+)(?:[ \t]+(.*?))?\s*$/.exec(text) ?? [];
  if (word === undefined) return { type: 'message', text };
  return readCommand(word.toLowerCase(), rest);
}

function readCommand(name: string, rest: string): ReadInput {
  switch (name) {
    case 'help':
    case 'questions':
    case 'quit':
    case 'status':
    case 'tools':
    case 'usage':
      return rest === '' ? command({ name }) : mistake(`/${name} takes nothing after it.`);
    case 'exit':
      return command({ name: 'quit' });
    case 'history':
      return readHistory(rest);
    case 'trace':
      return command({ name, ...(rest === '' ? {} : { id: rest }) });
    case 'agent': {
      const [agent, ...key] = rest.split(/\s+/).filter((part) => part !== '');
      const instanceKey = key.join(' ');
      return command({
        name,
        ...(agent === undefined ? {} : { agent }),
        ...(instanceKey === '' ? {} : { instanceKey }),
      });
    }
    case 'new':
      return command({ name, ...(rest === '' ? {} : { instanceKey: rest }) });
    default:
      return mistake(unknown(name));
  }
}

function readHistory(rest: string): ReadInput {
  const count = rest === '' ? HISTORY : Number(rest);
  if (Number.isInteger(count) && count > 0 && count <= MOST_HISTORY) return command({ name: 'history', count });
  return mistake(`/history takes a number from 1 to ${MOST_HISTORY}, not "${rest}".`);
}

function unknown(name: string): string {
  const closest = closestName(`/${name}`, commandNames);
  const meant = closest === undefined ? '/help lists the commands.' : `Did you mean ${closest}?`;
  return `There is no /${name}. ${meant} To send it as a message, begin with //.`;
}

function command(read: ChatCommand): ReadInput {
  return { type: 'command', command: read };
}

function mistake(problem: string): ReadInput {
  return { type: 'mistake', problem };
}

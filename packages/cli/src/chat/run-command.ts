/** Runs the commands of the chat. */
import type { Message } from '@goondan/types';
import type { InstanceAddress, Swarm } from '@goondan/runtime';
import type { Clock } from '@goondan/runtime/internal';
import { describeStatus } from '../swarm/describe-status.ts';
import { unknownAgent } from '../swarm/unknown-agent.ts';
import type { Chat } from './chat.ts';
import { describeMessages, sentIn } from './describe-messages.ts';
import { type ChatCommand, commandHelp, type Look } from './read-command.ts';
import type { EarlierInput } from './read-earlier.ts';
import { emptyLine, type Line, line, linesOf, span } from './screen/line.ts';
import { wrapProse } from './screen/wrap-line.ts';

export interface CommandDeps {
  readonly swarm: Pick<Swarm, 'status'>;
  /** Returns what `gdn usage`, `gdn trace` and `gdn explain` print about this conversation. */
  readonly look: (command: Look, at: InstanceAddress, columns: number) => Promise<string>;
  readonly clock: Clock;
  /** Returns no messages for a conversation that does not exist yet. */
  readonly readMessages: (at: InstanceAddress) => Promise<readonly Message[]>;
  /** Returns the inputs of a conversation that `gdn` sent and that have no answer yet, oldest first. */
  readonly readEarlier: (at: InstanceAddress) => Promise<readonly EarlierInput[]>;
  /** Asks again about the questions that the person left open. Returns their number. */
  readonly askAgain: () => number;
  /** Returns `provider/model`, if known. */
  readonly modelOf: (agent: string) => string | undefined;
}

/** How much of a conversation is shown as a reminder when it is opened. */
const glance = { messages: 6, lines: 8 };
const LONGEST_MESSAGE = 200;

/** **Errors** — `E_AGENT_UNKNOWN`, those of the swarm and the store. */
export async function runCommand(
  command: Exclude<ChatCommand, { name: 'quit' }>,
  chat: Chat,
  deps: CommandDeps,
): Promise<void> {
  const { screen, at } = chat;
  switch (command.name) {
    case 'help':
      return screen.print(help().flatMap((each) => wrapProse(each, screen.columns)));
    case 'questions':
      if (deps.askAgain() === 0) screen.print([line('Nothing is waiting for an answer.', 'dim')]);
      return;
    case 'status':
      return screen.print(
        linesOf(describeStatus(await deps.swarm.status(), { isWatched: true, suggest: String }).trimEnd(), 'dim'),
      );
    case 'usage':
    case 'trace':
    case 'tools':
      return chat.note(await deps.look(command, at, screen.columns));
    case 'history': {
      const bounds = { messages: command.count, lines: LONGEST_MESSAGE, columns: screen.columns };
      const lines = describeMessages(await deps.readMessages(at), bounds);
      return screen.print([...(lines.length === 0 ? [line('There are no messages yet.', 'dim')] : lines), emptyLine]);
    }
    case 'agent':
      return command.agent === undefined
        ? screen.print(await listAgents(chat, deps))
        : openConversation({ agent: command.agent, instanceKey: command.instanceKey ?? 'default' }, chat, deps);
    case 'new':
      return openConversation({ ...at, instanceKey: command.instanceKey ?? newKey(deps.clock.now()) }, chat, deps);
  }
}

/**
 * Switches to another conversation and shows its last messages, and the turns that are not over yet. **Errors** — as
 * `runCommand`.
 */
export async function openConversation(at: InstanceAddress, chat: Chat, deps: CommandDeps): Promise<void> {
  const { swarm, agents } = await deps.swarm.status();
  if (!agents.includes(at.agent)) throw unknownAgent(at.agent, agents);
  // Read before the messages: a turn that ends in between is then shown twice, and not missed.
  const earlier = await deps.readEarlier(at);
  const messages = await deps.readMessages(at);
  chat.at = at;
  chat.screen.setHistory(sentIn(messages));
  chat.screen.print([introduce(swarm, at, deps.modelOf(at.agent)), emptyLine]);
  const lines = describeMessages(messages, { ...glance, columns: chat.screen.columns });
  if (lines.length > 0) chat.screen.print([...lines, emptyLine]);
  chat.resume(earlier);
}

function introduce(swarm: string, { agent, instanceKey }: InstanceAddress, model: string | undefined): Line {
  const more = model === undefined ? '' : ` · ${model}`;
  return [span(agent, 'bold'), span(` · conversation ${instanceKey} · swarm ${swarm}${more}`, 'dim')];
}

async function listAgents({ at }: Chat, { swarm }: CommandDeps): Promise<Line[]> {
  const { agents } = await swarm.status();
  return agents.map((name) => line(`  ${name}${name === at.agent ? ' (here)' : ''}`));
}

function help(): Line[] {
  const width = Math.max(...commandHelp.map(([usage]) => usage.length));
  return [
    ...commandHelp.map(([usage, does]): Line => [span(`  ${usage.padEnd(width)}`, 'cyan'), span(`  ${does}`)]),
    ...[
      'Enter sends. During a turn, the agent gets your message before its next step.',
      'Tab completes commands, agents and @files. During a turn, it sends as the next turn.',
      'Alt-Enter, Ctrl-J or a backslash before Enter begins a new line.',
      '↑ and ↓ bring back what you sent.',
      'Ctrl-C cancels the turn or clears the line; otherwise press it twice to quit. Ctrl-\\ quits at once.',
      'To send a message that begins with a slash, type two: //text.',
    ].map((text) => line(`  ${text}`, 'dim')),
  ];
}

/** Returns a key such as `chat-20260728-143205`, from the current time. */
function newKey(now: Date): string {
  return `chat-${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`;
}

/** `gdn run` at a terminal: a chat with one agent of the swarm, until the person leaves or the swarm stops. */
import type { InstanceAddress, Swarm, SwarmWatch } from '@goondan/runtime';
import { declaredAgents } from '@goondan/runtime/bundle';
import { toAgentAddress } from '@goondan/runtime/control';
import { systemClock } from '@goondan/runtime/internal';
import { GoondanError, type Message } from '@goondan/types';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { readPrices } from '../read-prices.ts';
import { readInstance } from '../instance/read-instances.ts';
import { followBundle } from '../run/follow-bundle.ts';
import type { IsReported } from '../print-log-line.ts';
import type { PreparedRun } from '../run/prepare-run.ts';
import { withStore } from '../instance/with-store.ts';
import { unknownAgent } from '../swarm/unknown-agent.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';
import type { QuestionDesk } from '../question/question-desk.ts';
import { askInChat } from './ask-in-chat.ts';
import { Chat, type ChatEnd } from './chat.ts';
import { completeInput } from './complete-input.ts';
import { leaveSwarm } from './leave-swarm.ts';
import { listenToSignals } from './listen-to-signals.ts';
import { type ChatSwarm, openChatSwarm } from './open-chat-swarm.ts';
import { look } from './look.ts';
import { openScreen } from './open-screen.ts';
import { readEarlier } from './read-earlier.ts';
import { type CommandDeps, openConversation, runCommand } from './run-command.ts';
import { TurnCosts } from './turn-cost.ts';

const NOTHING = { spendings: [], problems: [] };

/**
 * If the swarm already runs, the chat connects to it and leaves it running. Otherwise the swarm is started for the
 * chat, and stops with it. `partner` is the first agent instance to talk to. If it names no agent, the entry agent is
 * used; if it names no instance key, `default` is used. `priceFile`: for the cost of each turn.
 *
 * **Errors** — those of `openChatSwarm`, `E_AGENT_UNKNOWN`, `E_CANCELLED`; `E_CONTROL_CLOSED` when the connection to
 * the swarm is lost; those of `readPrices`.
 */
export async function runChat(
  run: PreparedRun,
  partner: Partial<InstanceAddress>,
  terminal: Terminal,
  priceFile?: string,
): Promise<ExitCode> {
  const prices = priceFile === undefined ? undefined : await readPrices(priceFile);
  let chat: Chat | undefined;
  // Log lines of the swarm are printed above the prompt, so that they do not break the screen.
  const around: Terminal = { ...terminal, printError };
  function printError(text: string): void {
    if (chat === undefined) terminal.printError(text);
    else chat.note(text);
  }
  const isReported: IsReported = (line) => chat?.reports(line) === true;
  const opened = await withInterrupt(async (signal) => openChatSwarm(run, around, signal, isReported));
  let end: ChatEnd = 'interrupted';
  let unfollow: () => void = () => undefined;
  const signals = listenToSignals();
  try {
    unfollow = await followBundle(run, opened.swarm, around);
    end = await talk(opened, { run, terminal, ...(prices && { prices }) }, partner, (begun) => {
      chat = begun;
      signals.tell((signal) => begun.signalled(signal));
    });
  } finally {
    unfollow();
    chat = undefined;
    await leaveSwarm(opened, end, run.folder, signals, terminal);
    signals.forget();
  }
  if (opened.swarm.failure !== undefined) return exitCodes.failure;
  return end === 'interrupted' || end === 'quit' ? exitCodes.interrupted : exitCodes.ok;
}

async function talk(
  opened: ChatSwarm,
  around: Parameters<typeof look>[2],
  partner: Partial<InstanceAddress>,
  onOpen: (chat: Chat) => void,
): Promise<ChatEnd> {
  const { swarm } = opened;
  const { run, terminal, prices } = around;
  const costs = prices && new TurnCosts(prices, () => withStore(run.place, NOTHING, ({ usage }) => usage.read()));
  await costs?.look();
  const deps = { ...commandDeps(swarm, around), askAgain: () => desk?.askAgain() ?? 0 };
  const { entryAgent, agents } = await swarm.status();
  const at = { agent: partner.agent ?? entryAgent, instanceKey: partner.instanceKey ?? 'default' };
  if (!agents.includes(at.agent)) throw unknownAgent(at.agent, agents);
  const chat = new Chat(at, {
    swarm,
    clock: systemClock,
    openScreen: (hooks) => openScreen(hooks, terminal),
    complete: (before) => completeInput(before, agents, process.cwd()),
    costOf: async (end) => costs?.costOf(end),
    async runCommand(command, asked) {
      await runCommand(command, asked, deps);
      // The other conversation may have a call that waits for approval.
      desk?.look();
    },
  });
  let desk: QuestionDesk | undefined;
  opened.watch.ended.then(() => chat.leave('stopped')).catch((error: unknown) => chat.lost(error));
  let watch: SwarmWatch | undefined;
  try {
    watch = await swarm.watch({ types: ['runtime.event'] }, (notice) => chat.hear(notice));
    onOpen(chat);
    chat.screen.open();
    await openConversation(at, chat, deps);
    if (!opened.isOwn) chat.note('The swarm was already running, and keeps running when you leave.');
    chat.note('/help lists what you can type.');
    desk = await askInChat(opened, chat, terminal.suggest);
    return await chat.ended;
  } finally {
    desk?.close();
    watch?.end();
    chat.close();
  }
}

function commandDeps(swarm: Swarm, around: Parameters<typeof look>[2]): Omit<CommandDeps, 'askAgain'> {
  const { run } = around;
  const { bundle, swarmName, workdir } = run;
  const { agents } = declaredAgents(bundle, { swarm: swarmName, environment: process.env, workdir });
  return {
    swarm,
    clock: systemClock,
    look: (command, at, columns) => look(command, at, { ...around, terminal: { ...around.terminal, columns } }),
    readMessages: (at) => readMessages(run, at),
    readEarlier: (at) => readEarlier(run.place, at),
    modelOf(agentName) {
      const agent = agents.find((each) => each.agentName === agentName);
      const model = agent?.models[agent.modelRef ?? Object.keys(agent.models)[0] ?? ''];
      return model === undefined ? undefined : `${model.provider}/${model.model}`;
    },
  };
}

async function readMessages(run: PreparedRun, at: InstanceAddress): Promise<readonly Message[]> {
  try {
    return (await readInstance(run.place, toAgentAddress(at))).messages;
  } catch (error) {
    if (GoondanError.is(error) && error.code === 'E_INSTANCE_UNKNOWN') return [];
    throw error;
  }
}

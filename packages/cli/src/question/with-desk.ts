/**
 * The desk for a single turn. At a terminal it asks the person; elsewhere, and below an agent, it prints how to answer, or
 * denies.
 */
import type { Acceptance, QuestionSummary, Swarm } from '@goondan/runtime';
import { isBelowSwarm } from '@goondan/runtime/internal';
import { wrapMessage } from '../fit-width.ts';
import type { Terminal } from '../terminal.ts';
import type { TakeInterrupt } from '../with-interrupt.ts';
import { QuestionDesk } from './question-desk.ts';
import { describeQuestion, onStandardError } from './describe-question.ts';
import { askQuestion } from './ask-question.ts';
import type { PersonAnswer } from './person-answer.ts';
import { personName } from './person-name.ts';
import { terminalAsker } from './terminal-asker.ts';
import { nameSubject } from './wording.ts';

export interface DeskPlace {
  readonly swarm: Swarm;
  /** The options that select this swarm in another terminal: see `optionsElsewhere`. */
  readonly options: readonly string[];
  /**
   * If given, calls are denied with this note when no person can be asked. If absent, they wait for an answer from
   * another terminal.
   */
  readonly refusal?: string;
  /** If given, the first Ctrl-C at a question leaves the question open. If absent, it cancels the turn. */
  readonly takeInterrupt?: TakeInterrupt;
}

/**
 * Runs `work`; meanwhile the person at the terminal, if any, is asked about tool calls. `work` calls `onAccepted` when
 * the input is accepted. From then on the desk asks about calls of this turn, of turns that it causes, and of an
 * earlier turn that it has to wait for. Questions of other conversations are left to their people.
 */
export async function withDesk<Value>(
  place: DeskPlace,
  terminal: Terminal,
  work: (desk: QuestionDesk, onAccepted: (acceptance: Acceptance) => void) => Promise<Value>,
): Promise<Value> {
  const { swarm, refusal } = place;
  let own: Acceptance | undefined;
  const desk = await QuestionDesk.open({
    swarm,
    concerns: ({ traceId, agent, instanceKey }) =>
      traceId === own?.traceId || (agent === own?.agent && instanceKey === own.instanceKey),
    async ask(question, signal) {
      // An agent can open a terminal, too.
      if (terminal.canAsk && !isBelowSwarm()) return askPerson(question, signal, place, terminal);
      return refusal === undefined ? tellWhere(question, place, terminal) : refuse(question, refusal, terminal);
    },
    tell: (text) => say(terminal.suggest(text), terminal),
    nameOfPerson: personName,
    via: 'cli',
  });
  const onAccepted = (acceptance: Acceptance) => {
    own = acceptance;
    desk.look();
  };
  try {
    return await work(desk, onAccepted);
  } finally {
    desk.close();
  }
}

async function askPerson(
  question: QuestionSummary,
  signal: AbortSignal,
  { options, takeInterrupt }: DeskPlace,
  terminal: Terminal,
): Promise<PersonAnswer | undefined> {
  const left = new AbortController();
  const giveBack = takeInterrupt?.(() => left.abort());
  try {
    terminal.printError(describeQuestion(question, onStandardError(terminal), false));
    const answer = await askQuestion(question, terminalAsker(terminal, AbortSignal.any([signal, left.signal])));
    if (answer !== undefined) return answer;
    if (!signal.aborted) {
      const how = answerCommands(question, options);
      say(`${question.id} stays unanswered. ${how}. Ctrl-C cancels the turn.`, terminal);
    }
    return undefined;
  } finally {
    giveBack?.();
  }
}

function say(text: string, { printError, errorColumns }: Terminal): void {
  printError(`${wrapMessage(text, errorColumns)}\n`);
}

function tellWhere(question: QuestionSummary, { options }: DeskPlace, terminal: Terminal): undefined {
  say(`${nameSubject(question)} waits for you:`, terminal);
  terminal.printError(describeQuestion(question, onStandardError(terminal)));
  say(`${answerCommands(question, options)}.`, terminal);
}

function answerCommands({ id, kind }: QuestionSummary, options: readonly string[]): string {
  const commands = [kind === 'form' ? 'answer' : 'approve', 'deny'];
  const [yes, no] = commands.map((command) => `\`${['gdn', command, id, ...options].join(' ')}\``);
  return `Answer from another terminal: ${yes} or ${no}`;
}

function refuse(question: QuestionSummary, note: string, terminal: Terminal): PersonAnswer {
  say(`${nameSubject(question)} needs an answer, but no person can be asked, so it is denied:`, terminal);
  terminal.printError(describeQuestion(question, onStandardError(terminal)));
  return { decision: 'denied', note };
}

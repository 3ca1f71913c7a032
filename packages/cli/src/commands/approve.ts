import { Option } from 'commander';
import { alwaysScopes, GoondanError } from '@goondan/types';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { AnswerOptions, ApproveOptions, DenyOptions } from '../question/give-answer.ts';
import { stopSignals } from '../stop-signals.ts';
import { withInterrupt } from '../with-interrupt.ts';

/** Adds `gdn approve`, `gdn deny` and `gdn answer`. */
export function addApproveCommands(program: GdnCommand): void {
  addApprove(program);
  addDeny(program);
  addAnswer(program);
}

function addApprove(program: GdnCommand): void {
  program
    .command('approve')
    .argument(
      '[id]',
      'the id of the question or of the changeset, as the list shows it; without an id, the list is printed',
    )
    .summary('list the questions that wait for an answer, or approve one')
    .description(
      'Answers a question with yes. A tool call runs: this call, once, with the arguments shown, or with other arguments ' +
        '(--edit, --args), or from now on without a question (--always). A change that an agent wants to make to its ' +
        'bundle is made, with the difference shown. A budget of model calls grows by its own size, or by as much as the ' +
        'waiting call needs. For a page, yes means that you opened it. Without an id it lists the questions, and below ' +
        'them everything that is always allowed. If the swarm is not running, the answer is kept for its next start.',
    )
    .addOption(
      new Option(
        '--always <scope>',
        'allow such calls in this conversation without a question: "arguments" with exactly these, "host" with a URL of the same host, "tool" with any arguments',
      ).choices(alwaysScopes),
    )
    .option('--edit', 'edit the arguments in $VISUAL, $EDITOR or vi; the difference is shown before it runs')
    .option('--args <json>', 'run it with these arguments: a JSON object, or @file with one')
    .option('--note <text>', 'a note for the record')
    .refusesOption('--reason', 'A reason belongs to `gdn deny`. A note for the record is `--note`.')
    .swarmOptions()
    .examples(
      'gdn approve --bundle my-swarm',
      'gdn approve 3fa9c1d2 --bundle my-swarm',
      'gdn approve 3fa9c1d2 --always arguments --bundle my-swarm',
      `gdn approve 3fa9c1d2 --args '{"apples": 9}' --bundle my-swarm`,
    )
    .runs((options: ApproveOptions, terminal, id?: string) =>
      withInterrupt(async (signal): Promise<Result> => {
        if (id === undefined) {
          refuseAnswer('approve', { ...options }, ['always', 'edit', 'args', 'note']);
          return (await importList()).listQuestions(options, terminal, signal);
        }
        return (await importAnswer('approve')).approveQuestion(id, options, terminal, signal);
      }, stopSignals),
    );
}

/** An answer without the id of its question would be dropped. **Errors** — `E_USAGE`. */
function refuseAnswer(command: string, options: Readonly<Record<string, unknown>>, flags: readonly string[]): void {
  const flag = flags.find((each) => options[each] !== undefined);
  if (flag === undefined) return;
  throw new GoondanError('E_USAGE', `\`--${flag}\` needs the id of a question.`, {
    suggestion: `\`gdn ${command}\` lists the questions with their ids.`,
  });
}

function addDeny(program: GdnCommand): void {
  program
    .command('deny')
    .argument(
      '[id]',
      'the id of the question, or of something that is always allowed, as `gdn approve` shows it; without an id, the list is printed',
    )
    .summary('deny a question, or revoke what is always allowed')
    .description(
      'Answers a question with no. After a tool call, a change, a form or a page, the agent reads the denial and continues. ' +
        'After a question about a budget, the turn ends with E_BUDGET_EXCEEDED. With the id of something that is always ' +
        'allowed, the permission ends: the next such call is asked about again.',
    )
    .option('--reason <text>', 'the reason, which the agent reads; for a budget, a part of the error')
    .refusesOption('--note', 'The words of a denial are its `--reason`.')
    .swarmOptions()
    .examples('gdn deny 3fa9c1d2 --reason "Not on a Friday." --bundle my-swarm')
    .runs((options: DenyOptions, terminal, id?: string) =>
      withInterrupt(async (signal): Promise<Result> => {
        if (id === undefined) {
          refuseAnswer('deny', { ...options }, ['reason']);
          return (await importList()).listQuestions(options, terminal, signal);
        }
        return (await importAnswer('deny')).denyQuestion(id, options, terminal, signal);
      }, stopSignals),
    );
}

function addAnswer(program: GdnCommand): void {
  program
    .command('answer')
    .argument('<id>', 'the id of the question, as `gdn approve` shows it')
    .argument('[values...]', 'the fields of the form as NAME=VALUE; the only field of a form needs no name')
    .summary('answer a question of an agent')
    .description(
      'Fills in the form of a question. A field that you leave out gets its default. A choice is named by its value, its ' +
        'title or its number, several choices with commas, and yes or no by y or n. A required text must not be empty. ' +
        'Without values, at a terminal, it asks you field by field, as the chat does. `gdn deny` declines the question.',
    )
    .option('--content <json>', 'the filled form: a JSON object, or @file with one')
    .swarmOptions()
    .examples(
      'gdn answer 3fa9c1d2 main --bundle my-swarm',
      'gdn answer 3fa9c1d2 branch=main copies=3 --bundle my-swarm',
      `gdn answer 3fa9c1d2 --content '{"branch": "main"}' --bundle my-swarm`,
    )
    .runs((options: AnswerOptions, terminal, id: string, values: readonly string[]) =>
      withInterrupt(
        async (signal) => (await importAnswer('answer')).answerQuestion(id, values, options, terminal, signal),
        stopSignals,
      ),
    );
}

function importList() {
  return import('../question/list-questions.ts');
}

/** Imports the work of a command that only people may use. **Errors** — `E_APPROVAL_BELOW_AGENT`. */
async function importAnswer(command: 'approve' | 'deny' | 'answer') {
  const [work, { refuseAgents }] = await Promise.all([
    import('../question/give-answer.ts'),
    import('../question/refuse-agents.ts'),
  ]);
  refuseAgents(command);
  return work;
}

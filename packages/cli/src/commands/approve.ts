import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';

/** Adds `gdn approve` and `gdn deny`. */
export function addApproveCommands(program: GdnCommand): void {
  program
    .command('approve')
    .argument(
      '[id]',
      'the id of the question or of the changeset, as the list shows it; without an id, the list is printed',
    )
    .summary('list the questions that wait for approval, or approve one')
    .description(
      'Answers one question of a running swarm with yes. A tool call runs: this call, once, with the arguments shown. A ' +
        'change that an agent wants to make to its bundle is made, with the difference shown. A budget of model calls ' +
        'grows by its own size, or by as much as the waiting call needs. Without an id it lists the questions. They are ' +
        'kept when the swarm stops, and wait again when it starts.',
    )
    .option('--note <text>', 'a note for the record')
    .swarmOptions()
    .examples('gdn approve --bundle my-swarm', 'gdn approve 3fa9c1d2 --bundle my-swarm')
    .runs((options: BundleOptions & { readonly note?: string }, terminal, id?: string) =>
      act('approve', id, options.note, options, terminal),
    );
  program
    .command('deny')
    .argument('[id]', 'the id of the question, as `gdn approve` shows it; without an id, the list is printed')
    .summary('deny a question that waits for approval')
    .description(
      'Answers one question of a running swarm with no. After a tool call or a change, the agent reads the denial and ' +
        'continues. After a question about a budget, the turn ends with E_BUDGET_EXCEEDED.',
    )
    .option('--reason <text>', 'the reason, which the agent reads; for a budget, a part of the error')
    .swarmOptions()
    .examples('gdn deny 3fa9c1d2 --reason "Not on a Friday." --bundle my-swarm')
    .runs((options: BundleOptions & { readonly reason?: string }, terminal, id?: string) =>
      act('deny', id, options.reason, options, terminal),
    );
}

async function act(
  what: 'approve' | 'deny',
  id: string | undefined,
  note: string | undefined,
  options: BundleOptions,
  terminal: Terminal,
): Promise<Result> {
  if (id === undefined) return list(options, terminal);
  const [{ reachSwarm }, { refuseAgents }, { personName }, { findQuestion }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../question/refuse-agents.ts'),
    import('../question/person-name.ts'),
    import('../question/find-question.ts'),
  ]);
  refuseAgents(what);
  const swarm = await reachSwarm(options);
  const asked = findQuestion(await swarm.questions(), id);
  const decision = what === 'approve' ? 'approved' : 'denied';
  const said = note === undefined ? {} : { note };
  await swarm.answer({ id: asked?.id ?? id, decision, by: personName(), via: 'cli', ...said });
  const isBudget = asked?.kind === 'budget';
  return what === 'approve'
    ? {
        json: { approved: true },
        text: isBudget ? 'Approved: the budget grows when the turn goes on.\n' : 'Approved.\n',
      }
    : { json: { denied: true }, text: isBudget ? 'Denied: the budget stays as it is.\n' : 'Denied.\n' };
}

async function list(options: BundleOptions, { colors, isWatched, suggest }: Terminal): Promise<Result> {
  const [{ reachSwarm }, { describeQuestion }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../question/describe-question.ts'),
  ]);
  const questions = await (await reachSwarm(options)).questions();
  const shown = questions.map((question) => describeQuestion(question, colors, isWatched)).join('');
  if (shown === '') return { json: questions, text: 'Nothing is waiting for approval.\n' };
  return {
    json: questions,
    text: `${shown}${suggest('Answer with `gdn approve ID` or `gdn deny ID --reason TEXT`.')}\n`,
  };
}

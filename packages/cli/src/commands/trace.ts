import type { StoreReader } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import { InvalidArgumentError, Option } from 'commander';
import { type InstanceOptions, numberUpTo } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

type TraceOptions = InstanceOptions & {
  readonly diff?: boolean;
  readonly mermaid?: boolean;
  /** True for all steps, or the index of a step. */
  readonly prompt?: true | number;
  readonly full?: boolean;
  readonly last?: number;
};

const description =
  'Shows the own time, the changes and the outcome of every layer of a turn, in called ' +
  'agents too. Without an id it lists the latest turns. The id is the id of a turn or a trace, or the ' +
  'beginning of one, as every command prints it. `last` is the latest turn that no other ' +
  'agent asked for, or that of --agent and --instance. With --prompt it shows each model call of the turn as the provider got it: the system prompt, ' +
  'messages, tools and params, who put each of them there, and the reply. Without an id, --prompt takes the latest turn, ' +
  'or that of --agent and --instance. ' +
  'The swarm does not have to run.';

export function addTraceCommand(program: GdnCommand): void {
  const command = program
    .command('trace')
    .argument('[id]', 'a turn or a trace, or the beginning of its id; `last`')
    .summary('show what every layer of a turn did')
    .description(description)
    .option('--diff', 'show every change in full, the messages, and stacks')
    .addOption(new Option('--mermaid', 'a sequence diagram, as text for Mermaid').conflicts(['diff', 'json']))
    .addOption(
      new Option('--prompt [step]', 'show what the model got and gave, in all steps or in the step with this number')
        .argParser(readStep)
        .conflicts(['diff', 'mermaid']),
    )
    .option('--full', 'with --prompt: show long texts and all messages in full, and the parameters of tools')
    .option('--agent <name>', 'without an id: only turns of this agent; with `last` or --prompt, its latest one')
    .option(
      '--instance <key>',
      'without an id: only turns of this conversation; with `last` or --prompt, its latest one',
    )
    .option('--last <number>', 'without an id: the number of turns (default: 20)', numberUpTo(MOST))
    .swarmOptions()
    .examples(
      'gdn trace --bundle my-swarm',
      'gdn trace last --bundle my-swarm',
      'gdn trace 1f3a9c2b --bundle my-swarm --diff',
      'gdn trace last --prompt 0 --bundle my-swarm',
      'gdn trace --prompt --agent my-swarm --bundle my-swarm',
    )
    .runs((options: TraceOptions, terminal, id?: string) => {
      refuseMixture(command, id, options);
      if (options.prompt !== undefined) return showPrompts(id, options, terminal);
      return id === undefined ? list(options, terminal) : show(id, options, terminal);
    });
}

/** Rejects an option of the list of turns when an id is given, and an option of one turn when no id is given. */
function refuseMixture(command: GdnCommand, id: string | undefined, options: TraceOptions): void {
  const given = (names: readonly (keyof TraceOptions)[]) => names.find((name) => options[name] !== undefined);
  if (options.full === true && options.prompt === undefined)
    command.error("option '--full' works only with '--prompt'");
  const forList = id === undefined ? undefined : given(id === 'last' ? ['last'] : ['agent', 'instance', 'last']);
  if (forList !== undefined) {
    const or = forList === 'last' ? '' : ', or with `last`';
    command.error(`option '--${forList}' works only without an id${or}`);
  }
  if (options.prompt !== undefined && options.last !== undefined) {
    command.error("option '--last' works only for the list of turns, without '--prompt'");
  }
  const forOne = id === undefined ? given(['diff', 'mermaid']) : undefined;
  if (forOne !== undefined) command.error(`option '--${forOne}' needs the id of a turn or a trace, or \`last\``);
}

async function show(id: string, options: TraceOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { openReader }, { renderMermaid }, { printTrace }, { tellTaken }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../swarm/swarm-place.ts'),
    import('@goondan/runtime/history'),
    import('../trace/print-trace.ts'),
    import('../tell-taken.ts'),
  ]);
  const reader = await openReader(await placeOfSwarm(options));
  const trace = await reader.traces.read(id === 'last' ? await latest(reader, options) : id);
  if (options.json === true) return printJson(trace, terminal);
  if (options.mermaid === true) return terminal.print(`${renderMermaid(trace.turns)}\n`);
  if (trace.took !== undefined) tellTaken(trace.took, trace.turns[0]?.turnId ?? '', terminal);
  printTrace(trace.turns, terminal, { isFull: options.diff === true });
}

/** Reads the number of a step. An id after `--prompt` would be taken for it. */
function readStep(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is not the number of a step. Write the id of the turn before --prompt.');
}

async function showPrompts(id: string | undefined, options: TraceOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { openReader }, { readPrompts }, { renderPrompts }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../swarm/swarm-place.ts'),
    import('@goondan/runtime/history'),
    import('../trace/render-prompts.ts'),
  ]);
  const { prompt, full = false, json } = options;
  const reader = await openReader(await placeOfSwarm(options));
  const step = prompt === true ? undefined : prompt;
  const prompts = await readPrompts(reader, {
    id: id === undefined || id === 'last' ? await latest(reader, options) : id,
    step,
  });
  if (json === true) return printJson(prompts, terminal);
  await terminal.write(renderPrompts(prompts, full, terminal));
}

/**
 * Returns the span of the latest turn of the agent or the conversation that the options name; `undefined` when they name none.
 * The id of a turn is not enough: a forked conversation has turns with the same ids. **Errors** — `E_TRACE_UNKNOWN`.
 */
async function latest({ traces }: StoreReader, options: TraceOptions): Promise<string | undefined> {
  const { agent, instance } = options;
  if (agent === undefined && instance === undefined) return undefined;
  const [turn] = await traces.list({ ...turnsOf(options), last: 1 });
  if (turn !== undefined) return turn.spanId;
  const [of, in_] = [agent && ` of agent "${agent}"`, instance && ` in conversation "${instance}"`];
  throw new GoondanError('E_TRACE_UNKNOWN', `There is no recorded turn${of ?? ''}${in_ ?? ''}.`);
}

function turnsOf({ agent, instance }: TraceOptions) {
  return {
    ...(agent === undefined ? {} : { agentName: agent }),
    ...(instance === undefined ? {} : { instanceKey: instance }),
  };
}

async function list(options: TraceOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { openReader }, { printTurns }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../swarm/swarm-place.ts'),
    import('../trace/print-turns.ts'),
  ]);
  const { last } = options;
  const { traces } = await openReader(await placeOfSwarm(options));
  const turns = await traces.list({ ...turnsOf(options), ...(last === undefined ? {} : { last }) });
  if (options.json === true) return printJson(turns, terminal);
  if (turns.length === 0) return terminal.print('There are no recorded turns.\n');
  printTurns(turns, terminal);
}

const MOST = 10_000;

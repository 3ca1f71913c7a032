/** Describes the result of a replay for a person. */
import { relative } from 'node:path';
import type { ExplainedDivergence, ReplayedRun, ReplayReport } from '@goondan/runtime/history';
import { type Change, describePlans, shortTurnId } from '@goondan/runtime/internal';
import { showText } from '../question/show-text.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';

type Watched = Pick<Terminal, 'isWatched'>;

/** `swap`: the files with which extensions were replaced. */
export function renderReplay(
  report: ReplayReport,
  terminal: Pick<Terminal, 'colors' | 'isWatched'>,
  swap: Readonly<Record<string, string>>,
): string {
  const { colors } = terminal;
  const { divergence, without, others, layers, stoppedAt, runs = [], plans = [] } = report;
  const described = runs.map((run, index) => colors.dim(describeRun(run, index, terminal)));
  const lines = [describeTurn(report, terminal), colors.dim(describeServed(report)), ...described];
  if (plans.length > 0) lines.push(colors.dim(describePlans(plans)));
  if (without !== undefined) lines.push('', 'Even without the change:', ...describe(without, colors, swap));
  if (divergence !== undefined) {
    lines.push('', colors.bold('First divergence:'), ...describe(divergence, colors, swap));
    if (others > 0) lines.push(colors.dim(`${count(others, 'later layer')} behaved differently too.`));
  } else if (without === undefined) {
    lines.push('', `No divergence: ${describeSame(layers)}`);
  } else {
    lines.push('', 'Everything else that could be compared behaved as recorded.');
  }
  if (stoppedAt !== undefined) lines.push(colors.dim(describeStop(stoppedAt)));
  if (report.halted?.how === 'cancelled') lines.push(describeCancel(report.halted));
  return `${lines.join('\n')}\n`;
}

function describeSame(layers: number): string {
  if (layers > 0) return `${count(layers, 'layer')} behaved as recorded.`;
  // An extension may still have taken part: a layer that was interrupted before its `next()` is not compared.
  return 'the agent behaved as recorded. There were no layers of extensions to compare.';
}

function describeTurn(
  { turn: { turnId, agentName, instanceKey, startedAt, input = '' } }: ReplayReport,
  terminal: Watched,
): string {
  const asked = input === '' ? '' : `\nasked: ${oneLine(input)}`;
  return `Replayed turn ${showText(shortTurnId(turnId))} of ${showText(agentName)} (${showText(instanceKey)}), ${showTime(startedAt, terminal)}${asked}`;
}

function describeServed({ steps, served }: ReplayReport): string {
  const { model, tool, agent, approval } = served;
  const given = [
    count(model, 'model reply', 'model replies'),
    count(tool, 'tool result'),
    ...(agent === 0 ? [] : [count(agent, "agent's answer", "agents' answers")]),
    ...(approval === 0 ? [] : [count(approval, "person's answer", "people's answers")]),
  ];
  return `${count(steps, 'step')}, ${given.join(', ')} served from the recording, 0 called`;
}

function describe(
  { place, extension, layer, message, changes, cause }: ExplainedDivergence,
  colors: Terminal['colors'],
  swap: Readonly<Record<string, string>>,
): string[] {
  const name = extension === undefined ? 'the agent itself' : `Extension/${extension}`;
  const file = extension === undefined ? undefined : swap[extension];
  const within = [
    ...(place.length === 0 && layer !== undefined ? ['turn'] : place),
    ...(layer === undefined ? [] : [layerTitle(extension ?? '', layer)]),
  ];
  const shown = changes.slice(0, MOST_CHANGES);
  const more = changes.length - shown.length;
  return [
    `  ${colors.bold(showText(name))}${causes[cause](file)}`,
    ...(within.length === 0 ? [] : [`  ${colors.cyan(within.map(showText).join(' › '))}`]),
    `  ${oneLine(message)}`,
    ...shown.flatMap((change) => describeChange(change).map((line) => `    ${colors.yellow(line)}`)),
    ...(more === 0 ? [] : [`    ${colors.dim(`… ${more} more`)}`]),
    ...(advice[cause] === undefined ? [] : [`  ${colors.dim(advice[cause])}`]),
  ];
}

const causes: Readonly<Record<ExplainedDivergence['cause'], (file: string | undefined) => string>> = {
  swapped: (file) => (file === undefined ? ', replaced' : `, replaced by ${showText(relative('', file))}`),
  removed: () => ', left out',
  changed: () => ', changed since',
  follows: () => ', which is as it was',
  itself: () => ' diverges by itself',
  agent: () => ', changed since',
};

const advice: Partial<Readonly<Record<ExplainedDivergence['cause'], string>>> = {
  follows: 'Your change caused it in a way that is not recorded: metadata, events, state, shared modules.',
  itself: 'It reads something that is not in the recording: network, files, timers, or its memory of earlier turns.',
  agent: "Every layer behaved as recorded: the agent's prompt, model, parameters, tools or limits have changed.",
};

const MOST_CHANGES = 20;

/** Shows the recorded and the new value, as `gdn trace` does. */
function describeChange({ path, before, after }: Change): string[] {
  const name = path === '' ? 'all of it' : oneLine(path);
  if (before === undefined) return [`+ ${name}: ${oneLine(after ?? '')}`];
  if (after === undefined) return [`− ${name}: ${oneLine(before)}`];
  const isShort = before.length + after.length <= ONE_LINE && !/\n/.test(before + after);
  if (isShort) return [`~ ${name}: ${oneLine(before)} → ${oneLine(after)}`];
  return [`~ ${name}`, `  − ${fromWhere(before, after)}`, `  + ${fromWhere(after, before)}`];
}

const ONE_LINE = 100;
const LONGEST = 200;
const CONTEXT = 40;

/** Cuts the beginning of a long text, so that it starts shortly before its first difference from `other`. */
function fromWhere(text: string, other: string): string {
  let same = 0;
  while (same < text.length && text[same] === other[same]) same++;
  const start = same > CONTEXT * 2 ? same - CONTEXT : 0;
  return `${start === 0 ? '' : '…'}${oneLine(text.slice(start))}`;
}

function describeStop(place: readonly string[]): string {
  const at = place.length === 0 ? 'the turn' : place.map(showText).join(' › ');
  return `The replay ended at ${at}: the recording has no answer for this call.`;
}

function describeCancel({ place, layer, error = '' }: NonNullable<ReplayReport['halted']>): string {
  const isLate = error.startsWith('E_TURN_TIMEOUT');
  return `${isLate ? 'Its time was up' : 'It was cancelled'} at ${describePlace(place, layer)}, as in the recording.`;
}

/** Describes one of the runs of a turn that was continued in another process. */
function describeRun(
  { startedAt, fromStep, how, outcome, problem, divergence, plans = [] }: ReplayedRun,
  index: number,
  terminal: Watched,
): string {
  const run = `run ${index + 1}, ${showTime(startedAt, terminal)}, from step ${fromStep}${endings[how]}`;
  if (outcome === undefined) return `${run}: not replayed, ${problem ?? 'nothing is recorded of it'}`;
  const layers = outcome.layers === 0 ? 'no layers to compare' : `${count(outcome.layers, 'layer')} compared`;
  const compared = `${run}: ${layers}${divergence === undefined ? '' : ', with a divergence'}`;
  return plans.length === 0 ? compared : `${compared}; ${describePlans(plans)}`;
}

const endings: Readonly<Record<ReplayedRun['how'], string>> = {
  finished: ' to its end',
  cancelled: ' until it was cancelled',
  left: ' until its process was stopped',
  crashed: ' until its process was gone',
};

function describePlace(place: readonly string[], layer: { extension: string; name: string } | undefined): string {
  const within = place.length === 0 && layer === undefined ? ['the turn'] : place.length === 0 ? ['turn'] : [...place];
  if (layer !== undefined) within.push(layerTitle(layer.extension, layer.name));
  return within.map(showText).join(' › ');
}

function layerTitle(extension: string, layer: string): string {
  return ['turn', 'step', 'toolCall', 'model'].includes(layer) ? extension : `${extension} · ${layer}`;
}

function oneLine(text: string): string {
  const cut = text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
  return showText(cut.replaceAll(/\s+/g, ' '));
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

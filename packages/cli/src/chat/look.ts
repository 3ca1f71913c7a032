/** Prints for the chat what the commands `gdn usage`, `gdn trace` and `gdn explain` print. */
import type { InstanceAddress } from '@goondan/runtime';
import { GoondanError, type Prices } from '@goondan/types';
import { createColors } from '../colors.ts';
import { describeTools } from '../explain/describe-onion.ts';
import { explainAgent } from '../explain/explain-agent.ts';
import { withStore } from '../instance/with-store.ts';
import type { PreparedRun } from '../run/prepare-run.ts';
import type { Terminal } from '../terminal.ts';
import { printTrace } from '../trace/print-trace.ts';
import { printUsage } from '../usage/print-usage.ts';
import { reportUsage } from '../usage/sum-spendings.ts';
import type { Look } from './read-command.ts';

/** **Errors** — `E_TRACE_UNKNOWN`, those of the store and of `explainAgent`. */
export async function look(
  command: Look,
  at: InstanceAddress,
  { run, terminal, prices }: { readonly run: PreparedRun; readonly terminal: Terminal; readonly prices?: Prices },
): Promise<string> {
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const plain = createColors(false);
  const paper = { ...terminal, print, printError: print, colors: plain, errorColors: plain };
  if (command.name === 'usage') await printSpendings(run, prices, paper);
  else if (command.name === 'trace') await printTurn(command.id, at, run, paper);
  else print(await listTools(at, run, paper));
  return printed.join('');
}

async function printSpendings({ place }: PreparedRun, prices: Prices | undefined, paper: Terminal): Promise<void> {
  const read = await withStore(place, { spendings: [], problems: [] }, ({ usage }) => usage.read());
  const report = reportUsage(read, { by: 'agent', prices });
  if (report.rows.length > 0 || report.problems !== undefined) return printUsage(report, paper);
  paper.print('There were no model calls yet.');
}

async function printTurn(
  id: string | undefined,
  { agent: agentName, instanceKey }: InstanceAddress,
  { place }: PreparedRun,
  paper: Terminal,
): Promise<void> {
  const turns = await withStore(place, [], async ({ traces }) => {
    const [latest] = id === undefined ? await traces.list({ agentName, instanceKey, last: 1 }) : [{ spanId: id }];
    return latest === undefined ? [] : (await traces.read(latest.spanId)).turns;
  });
  if (turns.length === 0) throw new GoondanError('E_TRACE_UNKNOWN', 'There is no recorded turn of this conversation.');
  printTrace(turns, paper);
}

async function listTools({ agent }: InstanceAddress, { bundle: _, ...run }: PreparedRun, paper: Terminal) {
  const { signal } = new AbortController();
  const explanation = await explainAgent({ ...run, agent, load: false }, paper, signal);
  return paper.suggest(describeTools(explanation).join('\n'));
}

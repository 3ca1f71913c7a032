/** Reads everything that the commands of a version show about a stopped swarm. */
import type { Version } from './version.ts';

/** The output of each command, by the command. */
export type Shown = ReadonlyMap<string, string>;

interface Address {
  readonly agent: string;
  readonly instanceKey: string;
}

const MOST_EVENTS = '1000';
const MOST_TURNS = '200';
/** The turns of a conversation whose whole trace is read. */
const TRACES = 3;

export function historyCommand({ agent, instanceKey }: Address): string[] {
  return ['history', agent, instanceKey, '--limit', MOST_EVENTS, '--json'];
}

/** Reads the turns of all conversations. */
export async function readHistories(version: Version, stateRoot: string): Promise<Shown> {
  const { shown, read, instances } = await startReading(version, stateRoot);
  for (const address of instances) await read(...historyCommand(address));
  return shown;
}

/** Reads conversations, history, authors, exports, traces and dead letters. */
export async function readRoot(version: Version, stateRoot: string): Promise<Shown> {
  const { shown, read, instances } = await startReading(version, stateRoot);
  await read('deadletter', 'list', '--json');
  for (const { agent, instanceKey } of instances) {
    await read(...historyCommand({ agent, instanceKey }));
    await read('blame', agent, instanceKey, '--show-replaced', '--json');
    await read('instance', 'export', agent, instanceKey, '--history');
    await read('instance', 'show', agent, instanceKey, '--json');
    const choice = ['--agent', agent, '--instance', instanceKey];
    const turns = JSON.parse(await read('trace', ...choice, '--last', MOST_TURNS, '--json')) as { turnId: string }[];
    for (const { turnId } of turns.slice(0, TRACES)) await read('trace', turnId, '--json');
  }
  return shown;
}

async function startReading(version: Version, stateRoot: string) {
  const shown = new Map<string, string>();
  const read = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr, exitCode } = await version.gdn(stateRoot, ...args);
    // The time of an export differs between two exports of the same conversation. An older version does not write the
    // numbers of events.
    const text = stdout.replace(/^\s*"exportedAt": .*\n/m, '').replaceAll(/,"number":\d+(?=\})/g, '');
    shown.set(args.join(' '), exitCode === 0 && stderr === '' ? text : `exit code ${exitCode}: ${stderr}${text}`);
    return stdout;
  };
  const instances = JSON.parse(await read('instance', 'list', '--json')) as readonly Address[];
  return { shown, read, instances };
}

/** Returns a description of each command that shows something else. */
export function compareShown(before: Shown, after: Shown): string[] {
  const commands = new Set([...before.keys(), ...after.keys()]);
  return [...commands].flatMap((command) => {
    const [one, other] = [before.get(command), after.get(command)];
    return one === other ? [] : `gdn ${command}\n${describe(one, other)}`;
  });
}

/** Shows the place of the first difference. */
function describe(before: string | undefined, after: string | undefined): string {
  if (before === undefined || after === undefined) return `  only ${before === undefined ? 'after' : 'before'}`;
  let index = 0;
  while (before[index] === after[index]) index += 1;
  const part = (text: string) => JSON.stringify(text.slice(Math.max(0, index - 60), index + 60));
  return `  before: ${part(before)}\n  after:  ${part(after)}`;
}

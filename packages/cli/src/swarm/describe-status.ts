import type { InstanceStatus, SwarmStatus } from '@goondan/runtime';
import type { ChangeReport, KeptStatus } from '@goondan/runtime/control';
import { describeDuration, describeExtensionStatus } from '@goondan/runtime/internal';
import type { ExtensionStatus } from '@goondan/types';
import { harmlessSentence, harmlessText } from '../harmless-text.ts';
import { describeInputs } from '../instance/describe-inputs.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';
import { boundedList, MOST_SHOWN } from './bounded-list.ts';

/**
 * Describes the status for people: the swarm, then one line per instance, connection, kept connection and recent change.
 * Lists of instances and of kept connections are bounded.
 */
export function describeStatus(
  { swarm, pid, startedAt, instances, connections, kept = [], changes = [], nodes, oneShot }: SwarmStatus,
  terminal: Pick<Terminal, 'isWatched' | 'suggest'>,
): string {
  const lines = [
    ...(nodes === undefined
      ? [
          `Swarm "${swarm}" runs${oneShot === true ? ' for one input' : ''} in process ${pid} since ${showTime(startedAt, terminal)}.`,
        ]
      : describeNodes(swarm, nodes, terminal)),
    ...boundedList(
      urgentFirst(instances, urgencyOfInstance),
      (instance) => describeInstance(instance, terminal),
      terminal.suggest('`gdn instance list`'),
    ),
    ...describeSharedProcesses(instances, terminal),
    ...connections.map(({ connection, status, pid: own, node, problem }) =>
      line(connection, status, own, onNode(node), sentenceOf(problem)),
    ),
    ...boundedList(
      urgentFirst(kept, urgencyOfKept),
      (each) => describeKept(each, terminal),
      terminal.suggest('`gdn status --json`'),
    ),
    ...(changes.length === 0 ? [] : ['Latest changes:']),
    ...changes.slice(0, MOST_CHANGES).map((each) => describeChange(each, terminal)),
  ];
  return `${lines.join('\n')}\n`;
}

function describeNodes(
  swarm: string,
  nodes: NonNullable<SwarmStatus['nodes']>,
  terminal: Pick<Terminal, 'isWatched' | 'suggest'>,
): string[] {
  const lines = boundedList(
    nodes,
    ({ name, since, processes, instances, isDraining, missing = [], problem }) => [
      `  ${harmlessText(
        [
          `node ${name}: ${problem === undefined ? (isDraining === true ? 'drains' : 'lives') : 'does not answer'}`,
          `since ${showTime(since, terminal)}`,
          `${processes} ${processes === 1 ? 'process' : 'processes'}`,
          `${instances} ${instances === 1 ? 'conversation' : 'conversations'}`,
          ...(problem === undefined ? [] : [harmlessSentence(problem)]),
        ].join(', '),
      )}`,
      ...missing.map((sentence) => `    ${harmlessSentence(sentence)}`),
    ],
    terminal.suggest('`gdn nodes`'),
  );
  return [`Swarm "${swarm}" runs on ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}.`, ...lines];
}

function onNode(node: string | undefined): string | undefined {
  return node === undefined ? undefined : `on ${node}`;
}

/** Describes the processes that conversations share, if some conversations are not shown. */
function describeSharedProcesses(instances: readonly InstanceStatus[], terminal: Pick<Terminal, 'suggest'>): string[] {
  if (instances.length <= MOST_SHOWN) return [];
  const counts = new Map<string, number>();
  for (const { pid, node } of instances) {
    if (pid === undefined) continue;
    const process = `process ${pid}${node === undefined ? '' : ` on ${node}`}`;
    counts.set(process, (counts.get(process) ?? 0) + 1);
  }
  return boundedList(
    [...counts].filter(([, count]) => count > 1),
    ([process, count]) => [`  ${harmlessText(process)}: ${count} conversations`],
    terminal.suggest('`gdn status --json`'),
  );
}

/** Puts the most urgent items first, then the newest. The order stays as it is if all of them are shown. */
function urgentFirst<Item>(items: readonly Item[], urgencyOf: (item: Item) => number): readonly Item[] {
  if (items.length <= MOST_SHOWN) return items;
  return items.toReversed().toSorted((one, other) => urgencyOf(other) - urgencyOf(one));
}

/** Instances that need attention are more urgent than those that work. */
function urgencyOfInstance({ status, problem, questions = 0, queued, extensions = [] }: InstanceStatus): number {
  if (problem !== undefined || status === 'does not start' || extensions.some(isBroken)) return 3;
  if (questions > 0) return 2;
  return status === 'working' || queued > 0 ? 1 : 0;
}

function urgencyOfKept({ problem, server }: KeptStatus): number {
  return problem !== undefined || (server !== undefined && isBroken(server)) ? 1 : 0;
}

/** Returns true if a service of an extension has failed, or its connection was lost. */
function isBroken({ state }: Pick<ExtensionStatus, 'state'>): boolean {
  return state === 'failed' || state === 'reconnecting';
}

function describeInstance(
  {
    agent,
    instanceKey,
    status,
    pid,
    node,
    queued,
    problem,
    questions,
    limitWait,
    lastBlocked,
    extensions = [],
  }: InstanceStatus,
  terminal: Pick<Terminal, 'isWatched' | 'suggest'>,
): string[] {
  return [
    line(
      `${agent} (${instanceKey})`,
      questions === undefined
        ? status
        : `waiting for a person (${questions}, see ${terminal.suggest('`gdn approve`')})`,
      pid,
      onNode(node),
      limitWait && `waits for ${limitWait.limit} for ${describeDuration(limitWait.waitedMs)}`,
      queued === 0 ? undefined : describeInputs(queued),
      problem === undefined ? describeBlocked(lastBlocked) : sentenceOf(problem),
      status === 'does not start' ? '`gdn reload` and `gdn restart` try again' : undefined,
    ),
    ...extensions.flatMap((part) => describePart(part, terminal)),
  ];
}

function describeBlocked(last: InstanceStatus['lastBlocked']): string | undefined {
  return last && `a process was ${last.code} and killed ${describeDuration(last.agoMs)} ago`;
}

/** The number of changes that are shown; `gdn status --json` has more. */
const MOST_CHANGES = 3;

function describeChange({ at, message, changeset }: ChangeReport, terminal: Pick<Terminal, 'isWatched'>): string {
  return `  ${harmlessText([showTime(at, terminal), ...describeOrigin(changeset), harmlessSentence(message)].join('  '))}`;
}

function describeOrigin(changeset: ChangeReport['changeset']): string[] {
  if (changeset === undefined) return [];
  const { id, agent, undone, by } = changeset;
  const end = undone === true ? ` undone${by === undefined ? '' : ` by ${by}`}` : '';
  return [`changeset ${id} of ${agent}${end}`];
}

/** Describes a kept connection, and its server below it. */
function describeKept(
  { agent, extension, instanceKey, status, pid, problem, server }: KeptStatus,
  terminal: Pick<Terminal, 'isWatched'>,
): string[] {
  const whose = instanceKey === undefined ? 'all conversations' : instanceKey;
  const first = line(`${extension} of ${agent} (${whose}), kept`, status, pid, undefined, sentenceOf(problem));
  return [first, ...(server === undefined ? [] : describePart({ ...server, extension }, terminal))];
}

/** Describes a service of an extension, such as a server, below its agent, with the last lines it printed. */
function describePart(
  status: Parameters<typeof describeExtensionStatus>[0],
  terminal: Pick<Terminal, 'isWatched'>,
): string[] {
  const [first = '', ...more] = describeExtensionStatus(status, (time) => showTime(time, terminal)).map((text) =>
    harmlessSentence(text),
  );
  const withheld = (status.withheld ?? []).map(({ name, problem }) =>
    harmlessText(`withheld: ${name}: ${harmlessSentence(problem)}`),
  );
  return [`    ${first}`, ...[...more, ...withheld].map((text) => `      ${text}`)];
}

/** Problems are often texts of several lines, and each of them gets one line here. */
function sentenceOf(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : harmlessSentence(problem);
}

function line(who: string, status: string, pid: number | undefined, ...more: (string | undefined)[]): string {
  const process = pid === undefined ? undefined : `process ${pid}`;
  return `  ${harmlessText([`${who}: ${status}`, process, ...more].filter((part) => part !== undefined).join(', '))}`;
}

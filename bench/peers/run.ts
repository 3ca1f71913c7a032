/**
 * `npm run bench -- peers`: compares Goondan with other frameworks, in one run and one table. Each of them runs the same
 * turns with the same tool on a model that answers at once, through its own model interface, without a network. Each
 * task is a new process. `docs/bench.md` explains the columns. With `--write`, the tables go into the pages.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { type InstalledPeer, installPeer, peersFolder, versionOf, versionsOf } from './install-peer.ts';
import {
  medians,
  type Outcome,
  type PeerRow,
  peerNotes,
  peerTable,
  shortTable,
  type Task,
  tasks,
  writeBetween,
} from './peer-rows.ts';

/** After this time no task begins, and the last one is stopped, so that the command ends within ten minutes. */
const LIMIT_MS = 570_000;
const TASK_LIMIT_MS = 120_000;
/** A peer that takes longer to install must not keep the others from being measured. */
const INSTALL_LIMIT_MS = 240_000;
/** Rounds of each task. In a round all contestants take turns, so that a slow moment does not affect one of them alone. */
const ROUNDS = { first: 5, ten: 3, memory: 1, history: 1 } satisfies Record<Task, number>;

interface Contestant extends Omit<PeerRow, 'outcomes'> {
  readonly store: string;
  /** The command of its program, or the reason why there is none. */
  readonly command: readonly string[] | string;
}

interface Peer extends Pick<PeerRow, 'framework' | 'keeps'> {
  readonly folder: string;
  readonly store: string;
  readonly how: string;
}

const langgraph = `LangGraph ${versionOf('langgraph', '@langchain/langgraph')}`;
const mastra = `Mastra ${versionOf('mastra', '@mastra/core')}`;

/** Those that take longest are last: when the time is over, only they have missing figures. */
const peers: readonly Peer[] = [
  {
    folder: 'ai-sdk',
    framework: `AI SDK ${versionOf('ai-sdk', 'ai')}`,
    store: '',
    how: 'stores nothing',
    keeps: 'memory',
  },
  { folder: 'openai-agents', framework: 'OpenAI Agents', store: '', how: 'session in memory' },
  { folder: 'langgraph', framework: langgraph, store: 'synced', how: 'SQLite, every commit synced', keeps: 'disk' },
  { folder: 'langgraph', framework: langgraph, store: 'shipped', how: 'SQLite, as shipped' },
  { folder: 'langgraph', framework: langgraph, store: 'memory', how: 'in memory', keeps: 'memory' },
  { folder: 'mastra', framework: mastra, store: 'whole', how: 'libSQL, the whole history', keeps: 'disk' },
  { folder: 'mastra', framework: mastra, store: 'shipped', how: 'libSQL, the last messages, as shipped' },
  { folder: 'mastra', framework: mastra, store: 'memory', how: 'in memory', keeps: 'memory' },
];

const startedAt = performance.now();
const leftMs = () => startedAt + LIMIT_MS - performance.now();
const names = [...new Set(peers.map(({ folder }) => folder))];
const wanted = process.argv.slice(2).filter((argument) => argument !== '--write');
const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) fail(`There is no peer "${unknown}"; there are ${names.join(', ')}.`);
const isWritten = process.argv.includes('--write');
if (isWritten && wanted.length > 0) fail('--write needs all peers; leave the names out.');

const contestants = [...(await goondan()), ...(await installPeers())];
const rows = contestants.map((contestant) => ({ ...contestant, outcomes: {} })) satisfies PeerRow[];
for (const task of tasks) {
  const taken = contestants.map((): Outcome[] => []);
  for (let round = 0; round < ROUNDS[task]; round++) {
    for (const [index, contestant] of contestants.entries()) {
      tell(`${task}, round ${round + 1} of ${ROUNDS[task]}: ${contestant.name}`);
      const outcome = await runTask(contestant, task);
      // When the time is over, the medians are those of the rounds so far.
      if (round === 0 || leftMs() > 0) taken[index]?.push(outcome);
    }
  }
  for (const [index, { outcomes }] of rows.entries()) Object.assign(outcomes, { [task]: medians(taken[index] ?? []) });
}

const machine = `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB of memory`;
const load = `load ${loadavg()[0]?.toFixed(1)}`;
const day = new Date().toISOString().slice(0, 10);
const report = `Measured on ${day}: ${machine} (${cpus()[0]?.model.trim() ?? 'unknown'}), ${process.platform}, ${load}. Medians.

${peerTable(rows)}
${peerNotes(rows)}`;
console.log(`${report}\n\nThe peers are in ${peersFolder}; remove the folder to install them again.`);
if (isWritten) {
  await write('docs/bench.md', report);
  await write('README.md', `${shortTable(rows)}\n${day}: ${machine}, ${load}.`);
}
tell('done');

async function installPeers(): Promise<Contestant[]> {
  const chosen = names.filter((name) => wanted.length === 0 || wanted.includes(name));
  const installed = new Map<string, InstalledPeer | string>();
  // Together: LangGraph compiles SQLite, while the others wait for the network.
  await Promise.all(
    chosen.map(async (name) => {
      tell(`install ${name}: ${versionsOf(name)}`);
      installed.set(name, await installPeer(name, INSTALL_LIMIT_MS).catch(String));
      tell(`installed ${name}`);
    }),
  );
  return peers.flatMap(({ folder, how, ...peer }): Contestant[] => {
    const found = installed.get(folder);
    if (found === undefined) return [];
    const shared = { ...peer, name: `${peer.framework}, ${how}` };
    if (typeof found === 'string') {
      return [{ ...shared, runtime: versionsOf(folder), command: `not installed: ${found}` }];
    }
    const { stdout } = Bun.spawnSync([found.node, '--version']);
    const runtime = `Node ${stdout.toString().trim()}, ${versionsOf(folder)}`;
    return [{ ...shared, runtime, command: [found.node, found.program] }];
  });
}

/** Bundles our program, because the programs of our processes are bundled too. */
async function goondan(): Promise<Contestant[]> {
  const outdir = join(peersFolder, 'goondan');
  const entry = join(import.meta.dir, 'goondan.ts');
  rmSync(outdir, { recursive: true, force: true });
  await Bun.build({ entrypoints: [entry], outdir, target: 'bun', splitting: true, minify: true });
  const shared = { framework: 'Goondan', runtime: `Bun ${Bun.version}` };
  const command = [process.execPath, join(outdir, 'goondan.js')];
  return [
    { ...shared, name: 'Goondan, durable', keeps: 'disk', command, store: 'durable' },
    { ...shared, name: 'Goondan, in memory', keeps: 'memory', command, store: 'memory' },
  ];
}

async function runTask({ command, store }: Contestant, task: Task): Promise<Outcome> {
  if (typeof command === 'string') return { problem: command };
  const timeout = Math.floor(Math.min(TASK_LIMIT_MS, leftMs()));
  if (timeout <= 0) return { problem: `${task}: the time was over` };
  const folder = mkdtempSync(join(tmpdir(), 'goondan-peer-'));
  const beganAt = performance.now();
  const child = Bun.spawn([...command, JSON.stringify({ task, folder })], {
    env: { ...process.env, NODE_ENV: 'production', PEER_STORE: store },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
    killSignal: 'SIGKILL',
  });
  const [output, problems] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  rmSync(folder, { recursive: true, force: true });
  const line = output.trim().split('\n').at(-1) ?? '';
  // The line is written by `run-peer.mjs`.
  if (child.exitCode === 0) return { ...(JSON.parse(line) as Outcome), milliseconds: performance.now() - beganAt };
  if (performance.now() - beganAt >= timeout)
    return { problem: `${task}: stopped after ${Math.round(timeout / 1_000)} s` };
  const reason = problems.split('\n').find((text) => /\bError\b|\bAssertion\b/.test(text)) ?? problems.slice(0, 200);
  return { problem: `${task}: ended with ${child.signalCode ?? child.exitCode}, ${reason.trim()}` };
}

async function write(path: string, text: string): Promise<void> {
  const page = Bun.file(join(import.meta.dir, '../..', path));
  await page.write(writeBetween(await page.text(), text));
}

/** Shows the progress, apart from the result. */
function tell(what: string): void {
  console.error(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${what}`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

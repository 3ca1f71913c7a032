/**
 * `npm run bench:peers`: compares Goondan with other frameworks, in one run and one table. Each of them runs the same
 * turns with the same tool on a model that answers at once, through its own model interface, without a network. Each
 * task is a new process. `docs/bench.md` explains the columns.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { medianOf } from '../measure.ts';
import { installPeer, type PeerName, peersFolder } from './install-peer.ts';
import { type Outcome, type PeerRow, peerNotes, peerTable, type Task, tasks } from './peer-rows.ts';
import pins from './pins.json';

const LIMIT_SECONDS = 240;
const SPAWNS = 7;

interface Contestant {
  readonly name: string;
  readonly runtime: string;
  readonly command: readonly string[];
  readonly store: string;
}

const contestants = [
  ...(await goondan()),
  peer('ai-sdk', 'AI SDK, stores nothing', ''),
  peer('langgraph', 'LangGraph, SQLite, every commit synced', 'synced'),
  peer('langgraph', 'LangGraph, SQLite, as shipped', 'shipped'),
  peer('mastra', 'Mastra, libSQL, the whole history', 'whole'),
  peer('mastra', 'Mastra, libSQL, the last messages, as shipped', 'shipped'),
  peer('openai-agents', 'OpenAI Agents, session in memory', ''),
];
const rows = contestants.map(({ name, runtime }) => ({ name, runtime, outcomes: {} })) satisfies PeerRow[];
for (const task of tasks) {
  for (const [index, contestant] of contestants.entries()) {
    const outcome = 'problem' in contestant ? contestant : await runTask(contestant, task);
    Object.assign(rows[index]?.outcomes ?? {}, { [task]: outcome });
  }
}
console.log(`${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, load ${loadavg()[0]?.toFixed(1)}; medians
The same tool and answers everywhere. Goondan masks 2 secrets; the others mask none.
The peers are in ${peersFolder}; remove the folder to install them again.

${peerTable(rows)}
${peerNotes(rows)}`);

function peer(
  name: PeerName,
  title: string,
  store: string,
): Contestant | { name: string; runtime: string; problem: string } {
  const versions = Object.entries(pins.peers[name].packages).map(([dependency, version]) => `${dependency} ${version}`);
  try {
    const { node, program } = installPeer(name);
    const { stdout } = Bun.spawnSync([node, '--version']);
    const runtime = `Node ${stdout.toString().trim()}, ${versions.join(', ')}`;
    return { name: title, runtime, command: [node, program], store };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name: title, runtime: versions.join(', '), problem: `not installed: ${reason}` };
  }
}

/** Bundles our program, because the programs of our processes are bundled too. */
async function goondan(): Promise<Contestant[]> {
  const outdir = join(peersFolder, 'goondan');
  const entry = join(import.meta.dir, 'goondan.ts');
  rmSync(outdir, { recursive: true, force: true });
  await Bun.build({ entrypoints: [entry], outdir, target: 'bun', splitting: true, minify: true });
  const command = [process.execPath, join(outdir, 'goondan.js')];
  const runtime = `Bun ${Bun.version}`;
  return [
    { name: 'Goondan, durable', runtime, command, store: 'durable' },
    { name: 'Goondan, in memory', runtime, command, store: 'memory' },
  ];
}

async function runTask(contestant: Contestant, task: Task): Promise<Outcome> {
  if (task !== 'first') return runOnce(contestant, task);
  const taken: number[] = [];
  let last: Outcome = {};
  for (let spawn = -1; spawn < SPAWNS; spawn++) {
    const startedAt = performance.now();
    last = await runOnce(contestant, task);
    if (last.problem !== undefined) return last;
    if (spawn >= 0) taken.push(performance.now() - startedAt);
  }
  return { ...last, milliseconds: medianOf(taken) };
}

async function runOnce({ command, store }: Contestant, task: Task): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-peer-'));
  const startedAt = performance.now();
  const child = Bun.spawn([...command, JSON.stringify({ task, folder })], {
    env: { ...process.env, NODE_ENV: 'production', PEER_STORE: store },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_SECONDS * 1_000,
    killSignal: 'SIGKILL',
  });
  const [output, problems] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  rmSync(folder, { recursive: true, force: true });
  const line = output.trim().split('\n').at(-1) ?? '';
  // The line is written by `run-peer.mjs`.
  if (child.exitCode === 0) return JSON.parse(line) as Outcome;
  if (performance.now() - startedAt >= LIMIT_SECONDS * 1_000)
    return { problem: `${task}: stopped after ${LIMIT_SECONDS} s` };
  const reason = problems.split('\n').find((text) => /\bError\b|\bAssertion\b/.test(text)) ?? problems.slice(0, 200);
  return { problem: `${task}: ended with ${child.signalCode ?? child.exitCode}, ${reason.trim()}` };
}

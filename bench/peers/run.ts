/**
 * `npm run bench -- peers`: compares Goondan with other frameworks, in one run and one table. Each of them runs the same
 * turns with the same tool on a model that answers at once, through its own model interface, without a network. Each
 * task is a new process. `docs/bench.md` explains the columns.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPeer, type PeerName, peersFolder } from './install-peer.ts';
import { medians, type Outcome, type PeerRow, peerNotes, peerTable, type Task, tasks } from './peer-rows.ts';
import pins from './pins.json';

const LIMIT_SECONDS = 240;
/** Rounds of each task. In a round all contestants take turns, so that a slow moment does not affect one of them alone. */
const ROUNDS = { first: 7, ten: 3, history: 1, memory: 1 } satisfies Record<Task, number>;

interface Contestant {
  readonly name: string;
  readonly runtime: string;
  readonly command: readonly string[];
  readonly store: string;
}

/** The peers to compare with: those in the arguments, or all. */
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !(name in pins.peers));
if (unknown !== undefined) {
  console.error(`There is no peer "${unknown}"; there are ${Object.keys(pins.peers).join(', ')}.`);
  process.exit(2);
}
const peers: readonly (readonly [PeerName, string, string])[] = [
  ['ai-sdk', 'AI SDK, stores nothing', ''],
  ['langgraph', 'LangGraph, SQLite, every commit synced', 'synced'],
  ['langgraph', 'LangGraph, SQLite, as shipped', 'shipped'],
  ['mastra', 'Mastra, libSQL, the whole history', 'whole'],
  ['mastra', 'Mastra, libSQL, the last messages, as shipped', 'shipped'],
  ['openai-agents', 'OpenAI Agents, session in memory', ''],
];
const contestants = [
  ...(await goondan()),
  ...peers.filter(([name]) => wanted.length === 0 || wanted.includes(name)).map((one) => peer(...one)),
];
const rows = contestants.map(({ name, runtime }) => ({ name, runtime, outcomes: {} })) satisfies PeerRow[];
for (const task of tasks) {
  const taken = contestants.map((): Outcome[] => []);
  for (let round = 0; round < ROUNDS[task]; round++) {
    for (const [index, contestant] of contestants.entries()) {
      taken[index]?.push('problem' in contestant ? contestant : await runTask(contestant, task));
    }
  }
  for (const [index, { outcomes }] of rows.entries()) Object.assign(outcomes, { [task]: medians(taken[index] ?? []) });
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

async function runTask({ command, store }: Contestant, task: Task): Promise<Outcome> {
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
  if (child.exitCode === 0) return { ...(JSON.parse(line) as Outcome), milliseconds: performance.now() - startedAt };
  if (performance.now() - startedAt >= LIMIT_SECONDS * 1_000)
    return { problem: `${task}: stopped after ${LIMIT_SECONDS} s` };
  const reason = problems.split('\n').find((text) => /\bError\b|\bAssertion\b/.test(text)) ?? problems.slice(0, 200);
  return { problem: `${task}: ended with ${child.signalCode ?? child.exitCode}, ${reason.trim()}` };
}

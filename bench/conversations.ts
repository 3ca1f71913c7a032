/**
 * Measures a swarm with many conversations of one message each: with a process for each conversation, and with one
 * process for many (`isolation: agent`). The sizes are those of the whole workspace, divided by the conversations. The
 * traces, runtime events and logs in it are bounded, so the size of the conversations themselves is a row of its own.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions } from './bench-options.ts';
import type { Figures } from './figures.ts';
import { timeGdn } from './gdn-time.ts';
import { startHost, type SwarmHost } from './start-host.ts';
import type { SwarmBundleOptions } from './swarm-bundle.ts';

const AT_ONCE = 40;

export async function benchConversations({ conversations, shared }: BenchOptions): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const count of conversations) Object.assign(figures, await measureMany('instance', count));
  for (const count of shared) Object.assign(figures, await measureMany('agent', count));
  return figures;
}

async function measureMany(isolation: SwarmBundleOptions['isolation'] & {}, count: number): Promise<Figures> {
  const kind = isolation === 'agent' ? 'many in a process' : 'a process each';
  console.log(`\n${count} conversations with one message each, ${kind}`);
  const host = startHost({ trace: 'on', isolation });
  try {
    await host.start();
  } catch (error) {
    console.log(`  not measured: ${error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error)}`);
    await host.end();
    return {};
  }
  try {
    return await measureHost(host, isolation, count);
  } finally {
    await host.end();
  }
}

async function measureHost(host: SwarmHost, isolation: string, count: number): Promise<Figures> {
  const { perSecond, processorMs } = await host.ask('send', {
    prefix: 'conversation',
    keys: count,
    messages: count,
    atOnce: AT_ONCE,
  });
  const memory = await host.ask('memory');
  const disk = sizeOf(host.stateRoot);
  const own = sizeOf(instancesIn(host.stateRoot));
  const place = ['--bundle', host.bundleFolder, '--state-root', host.stateRoot];
  const status = await timeGdn(['status', ...place], 3);
  const list = await timeGdn(['instance', 'list', ...place], 3);
  const stopping = performance.now();
  await host.ask('stop');
  const stop = performance.now() - stopping;
  const closed = sizeOf(host.stateRoot);
  const listStopped = await timeGdn(['instance', 'list', ...place], 3);
  const start = await host.start();
  const each = { bytes: disk.bytes / count, onDisk: disk.onDisk / count, files: disk.files / count };
  const rows = [
    ['conversations', `${perSecond.toFixed(0)}/s, ${processorMs.toFixed(2)} ms of processor time each`],
    ['on disk, each', `${(each.onDisk / 1_024).toFixed(1)} KB in blocks, ${Math.round(each.bytes)} bytes`],
    ['on disk, each, without shared files', `${(own.onDisk / count / 1_024).toFixed(1)} KB in blocks`],
    ['on disk, each, when stopped', `${(closed.onDisk / count / 1_024).toFixed(1)} KB in blocks`],
    ['files, each', `${each.files.toFixed(1)}, and ${(disk.folders / count).toFixed(1)} folders`],
    ['memory of the orchestrator', `${memory.orchestratorMegabytes.toFixed(0)} MB, with the sender`],
    ['memory of agents', `${memory.agentsMegabytes.toFixed(0)} MB in ${memory.agentProcesses} processes`],
    ['gdn status', `${status.toFixed(0)} ms`],
    ['gdn instance list', `${list.toFixed(0)} ms, ${listStopped.toFixed(0)} ms when the swarm is stopped`],
    ['start of the swarm', `${start.toFixed(0)} ms, ${stop.toFixed(0)} ms to stop it`],
  ];
  for (const [name = '', value] of rows) console.log(`  ${name.padEnd(36)} ${value}`);
  return {
    [`conversations.${isolation}.rate`]: perSecond,
    [`conversations.${isolation}.kilobytes`]: each.onDisk / 1_024,
    [`conversations.${isolation}.files`]: each.files,
  };
}

/** Returns the folder of all conversations of the only workspace. */
function instancesIn(stateRoot: string): string {
  const workspaces = join(stateRoot, 'workspaces');
  return join(workspaces, readdirSync(workspaces)[0] ?? '', 'instances');
}

interface DiskSize {
  bytes: number;
  /** Bytes of the blocks that files and folders take. */
  onDisk: number;
  files: number;
  folders: number;
}

function sizeOf(folder: string, size: DiskSize = { bytes: 0, onDisk: 0, files: 0, folders: 0 }): DiskSize {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    size.onDisk += stat.blocks * 512;
    if (stat.isDirectory()) {
      size.folders++;
      sizeOf(path, size);
    } else {
      size.files++;
      size.bytes += stat.size;
    }
  }
  return size;
}

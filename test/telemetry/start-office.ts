/** Starts the swarm of `bundle/` in real processes, behind a real HTTP connector. The swarm exports its spans. */
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogLine, Swarm } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { startOrchestrator } from '../../packages/runtime/src/orchestrator/start-orchestrator.ts';
import { until } from '../until.ts';

const token = 'the-token-of-the-door';

export interface Office extends AsyncDisposable {
  readonly swarm: Swarm;
  readonly lines: readonly LogLine[];
  readonly stateRoot: string;
  /** The working folder of the swarm's agents. */
  readonly workdir: string;
  /** Posts an input over HTTP. Returns the status and the text of the answer, whatever the status. */
  post(input: string, headers?: Readonly<Record<string, string>>): Promise<{ status: number; text: string }>;
  stop(): Promise<void>;
}

/** Starts the swarm. `environment` contains the operator's variables, in addition to those of this process. */
export async function startOffice(environment: Readonly<Record<string, string>>): Promise<Office> {
  const folder = await mkdtemp(join(tmpdir(), 'goondan-office-'));
  const bundleFolder = join(folder, 'bundle');
  cpSync(join(import.meta.dir, 'bundle'), bundleFolder, { recursive: true });
  const declared = { DOOR_TOKEN: token };
  const bundle = await loadBundle(bundleFolder, { environment: declared });
  if (bundle.errors.length > 0) throw new Error(JSON.stringify(bundle.errors, undefined, 2));
  const { plan } = resolveSwarm(bundle, { environment: declared, workdir: folder });
  const lines: LogLine[] = [];
  const swarm = await startOrchestrator({
    plan,
    stateRoot: join(folder, 'state'),
    workspaceId: 'office',
    environment: { ...process.env, ...environment },
    onLog: (line) => void lines.push(line),
  });
  const findUrl = () => {
    const told = lines.find(({ connection }) => connection === 'door')?.message ?? '';
    return /(http:\/\/127\.0\.0\.1:\d+\/?\S*)/.exec(told)?.[1]?.replace(/[.,]$/, '');
  };
  const url = () => until(findUrl, { about: 'the connection has an address' });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= swarm.stop({ graceMs: 5_000 }));
  return {
    swarm,
    lines,
    stateRoot: join(folder, 'state'),
    workdir: folder,
    async post(input, headers = {}) {
      const response = await fetch(await url(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify({ input, room: 'blue' }),
      });
      return { status: response.status, text: await response.text() };
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

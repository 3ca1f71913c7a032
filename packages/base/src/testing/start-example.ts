/** Starts an example bundle of this package in real processes, with its own state root. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@goondan/types';
import { type LogLine, startSwarm, type Swarm } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { durableStore, listTurns, readTurnTrace, type TurnTrace } from '@goondan/runtime/history';
import { until } from '../../../../test/until.ts';

const examples = join(import.meta.dir, '..', '..', 'examples');

export interface RunningExample {
  readonly swarm: Swarm;
  readonly lines: LogLine[];
  /** Resolves with the first matching line of the log. */
  readonly logged: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Reads the conversation of an instance from disk. */
  readonly messages: (agentName: string, instanceKey: string) => Promise<readonly Message[]>;
  /** Reads the traces of the latest turns of an instance, newest first. The turns have ended. */
  readonly traces: (instanceKey: string) => Promise<readonly TurnTrace[]>;
  /** Lists the stored files of the workspace, and the uploads that are still there. */
  readonly stored: () => Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface ExampleOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Changes the text of the example's goondan.yaml. */
  readonly change?: (yaml: string) => string;
}

export async function startExample(
  name: string,
  { environment = {}, change }: ExampleOptions = {},
): Promise<RunningExample> {
  const place = mkdtempSync(join(tmpdir(), `example-${name}-`));
  const folder = join(place, 'bundle');
  cpSync(join(examples, name), folder, { recursive: true });
  if (change !== undefined) {
    const file = join(folder, 'goondan.yaml');
    await Bun.write(file, change(await Bun.file(file).text()));
  }
  const bundle = await loadBundle(folder, { environment });
  if (bundle.errors.length > 0) throw new Error(JSON.stringify(bundle.errors, undefined, 2));
  const stateRoot = join(place, 'state');
  const lines: LogLine[] = [];
  const { plan } = resolveSwarm(bundle, { environment, workdir: folder });
  const onLog = (line: LogLine) => void lines.push(line);
  const swarm = await startSwarm({ ...plan, stateRoot, bundleFolder: folder, onLog });
  return {
    swarm,
    lines,
    logged: (pattern) =>
      until(() => lines.map(({ message }) => pattern.exec(message)).find((match) => match !== null), {
        about: `a line of the log with ${pattern}`,
      }),
    async messages(agentName, instanceKey) {
      const { workspaceId } = await swarm.status();
      const store = await durableStore({ stateRoot, workspaceId, warn: () => undefined });
      try {
        return (await store.read({ agentName, instanceKey })).messages;
      } finally {
        await store.close();
      }
    },
    async traces(instanceKey) {
      const { workspaceId } = await swarm.status();
      const at = { stateRoot, workspaceId };
      const turns = (await listTurns(at)).filter((turn) => turn.instanceKey === instanceKey);
      return (await Promise.all(turns.map(({ turnId }) => readTurnTrace(at, turnId)))).flatMap((found) => found.turns);
    },
    async stored() {
      const { workspaceId } = await swarm.status();
      const blobs = join(stateRoot, 'workspaces', workspaceId, 'blobs');
      const uploads = readdirSync(join(blobs, 'uses')).filter((owner) => owner.startsWith('.upload'));
      return [...readdirSync(join(blobs, 'data')), ...uploads];
    },
    async stop() {
      await swarm.stop({ graceMs: 2_000 });
      rmSync(place, { recursive: true, force: true });
    },
  };
}

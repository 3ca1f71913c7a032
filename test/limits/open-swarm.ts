import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm } from '../../packages/runtime/src/start-swarm.ts';
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';
import { type LimitedBundle, limitedBundle } from './bundle.ts';

/** Starts a swarm on files. */
export async function openSwarm(bundle: LimitedBundle) {
  const files = temporaryBundle(limitedBundle(bundle));
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-limits-'));
  const start = () => startSwarm({ bundleFolder: files.folder, stateRoot });
  const running = { swarm: await start() };
  return {
    get swarm() {
      return running.swarm;
    },
    stateRoot,
    /** Replaces the bundle, and reloads the swarm. */
    async reload(changed: LimitedBundle) {
      for (const [name, text] of Object.entries(limitedBundle(changed))) writeFileSync(join(files.folder, name), text);
      await running.swarm.reload();
    },
    /** Stops the swarm, and starts it again. */
    async startAgain() {
      await running.swarm.stop({ graceMs: 0 });
      running.swarm = await start();
    },
    async [Symbol.asyncDispose]() {
      await running.swarm.stop({ graceMs: 0 });
      files[Symbol.dispose]();
      rmSync(stateRoot, { recursive: true });
    },
  };
}

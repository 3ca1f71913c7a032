/** The tool `bash`: runs one shell command in the agent's working folder, sandboxed where possible. */
import { GoondanError, type ToolHandler } from '@goondan/types';
import { readBashConfig } from './bash-config.ts';
import type { Sandbox } from './find-sandbox.ts';
import type { CommandAsk } from './run-command.ts';
import type { SpillFolder } from './spill-folder.ts';

// These caches last as long as this process. The result of testing bubblewrap does not change. The folder for output is
// removed when the process exits.
const sandboxes = new Map<boolean, Promise<Sandbox>>();
const shared: { spill?: SpillFolder; hasWarned?: boolean } = {};

const exec: ToolHandler = async (ctx, input) => {
  const { runCommand } = await import('./run-command.ts');
  const { SpillFolder: Folder } = await import('./spill-folder.ts');
  const config = readBashConfig(ctx.config);
  const sandbox = await chooseSandbox(config.sandbox, config.network);
  if (!sandbox.works && shared.hasWarned !== true) {
    shared.hasWarned = true;
    ctx.logger.warn(`bash: unsandboxed: ${sandbox.why}. Commands can do everything that this user can do.`);
  }
  return runCommand(
    // The cast is safe: the input was checked against the schema in tools.yaml.
    input as unknown as CommandAsk,
    {
      workdir: ctx.workdir,
      config,
      sandbox,
      spill: (shared.spill ??= new Folder()),
      signal: ctx.signal,
      environment: process.env,
      ...(ctx.traceparent === undefined ? {} : { traceparent: ctx.traceparent }),
    },
  );
};

export const handlers = { exec };

async function chooseSandbox(wanted: 'auto' | 'required' | 'off', network: boolean): Promise<Sandbox> {
  if (wanted === 'off') return { works: false, why: 'the bundle has switched the sandbox off' };
  const { findSandbox } = await import('./find-sandbox.ts');
  const known = sandboxes.get(network) ?? findSandbox(network);
  sandboxes.set(network, known);
  const sandbox = await known;
  if (sandbox.works || wanted === 'auto') return sandbox;
  throw new GoondanError('E_COMMAND_SANDBOX', `Commands run only in a sandbox here, but ${sandbox.why}.`);
}

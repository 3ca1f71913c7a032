/** Finds the sign-in of a server, for `gdn mcp login`, `logout` and `status`. No code of the bundle runs. */
import {
  CLEAR_TEXT,
  describeTarget,
  type HttpTarget,
  keepsSecrets,
  readSettings,
  resolveTarget,
} from '@goondan/base/mcp';
import { resolveSwarm, type ResolvedSwarm } from '@goondan/runtime/bundle';
import { GoondanError } from '@goondan/types';
import { prepareRun, type PreparedRun, resolveTrustedPlan, type RunRequest } from '../run/prepare-run.ts';
import type { Terminal } from '../terminal.ts';
import { findServer, isMcpServer } from './find-server.ts';

export interface SignInRequest extends RunRequest {
  readonly agent?: string;
}

export interface FoundSignIn {
  readonly name: string;
  readonly target: HttpTarget & { readonly oauth: NonNullable<HttpTarget['oauth']> };
  /** The address of the server, without secrets. */
  readonly address: string;
  /** Secrets that must be masked in output. */
  readonly secrets: readonly string[];
}

/**
 * Finds a server for a command that sends requests to it, or to its authorization server. The bundle must be trusted,
 * because it says where variables are sent. **Errors** — those of `prepareRun`, `resolveTrustedPlan`, `findServer` and
 * `resolveTarget`; `E_MCP_SIGN_IN` if nobody can sign in.
 */
export async function findTrustedSignIn(
  request: SignInRequest,
  wanted: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<FoundSignIn> {
  const run = await prepareRun({ ...request, connections: false }, terminal);
  // Allows missing model keys, because no model is called.
  const { plan } = await resolveTrustedPlan(run, terminal, signal, true);
  return findSignIn(run, plan, wanted, request.agent);
}

/** A server in the list of `gdn mcp status`. */
export interface ListedSignIn {
  readonly name: string;
  /** `undefined` if nobody can sign in, with the reason in `problem`. */
  readonly found?: FoundSignIn;
  readonly problem?: GoondanError;
}

/** Lists the sign-ins of all servers that agents use, or of the wanted one. */
export async function listSignIns(
  request: SignInRequest,
  wanted: string | undefined,
  terminal: Terminal,
): Promise<readonly ListedSignIn[]> {
  const run = await prepareRun({ ...request, connections: false }, terminal);
  const { bundle, swarmName: swarm, workdir } = run;
  const options = { swarm, environment: process.env, workdir, mayMiss: true, isNode: false, connections: false };
  const { plan } = resolveSwarm(bundle, options);
  if (wanted !== undefined) return [{ name: wanted, found: await findSignIn(run, plan, wanted, request.agent) }];
  const names = plan.agents.flatMap(({ extensions = [] }) =>
    extensions.filter(isMcpServer).map(({ resource }) => resource.metadata.name),
  );
  return Promise.all([...new Set(names)].toSorted().map((name) => tryFind(run, plan, name)));
}

async function tryFind(run: PreparedRun, plan: ResolvedSwarm['plan'], name: string): Promise<ListedSignIn> {
  try {
    return { name, found: await findSignIn(run, plan, name) };
  } catch (error) {
    if (GoondanError.is(error)) return { name, problem: error };
    throw error;
  }
}

async function findSignIn(
  run: PreparedRun,
  plan: ResolvedSwarm['plan'],
  wanted: string,
  agentName?: string,
): Promise<FoundSignIn> {
  const places = { bundleFolder: run.bundle.folder, workdir: run.workdir };
  const found = await findServer(plan, wanted, { ...places, ...(agentName === undefined ? {} : { agentName }) });
  const { name, config, secrets } = found;
  const environment = { ...found.environment, GOONDAN_STATE_ROOT: run.stateRoot };
  const target = await resolveTarget(readSettings(config, name), { ...found, environment });
  if (target.type === 'stdio') throw nobodyCan(name, 'it is a program of this machine');
  const { oauth } = target;
  if (oauth === undefined && !keepsSecrets(target.url)) throw nobodyCan(name, CLEAR_TEXT);
  if (oauth === undefined) throw nobodyCan(name, 'its `headers` have a token, or its `oauth` is false');
  return { name, target: { ...target, oauth }, address: describeTarget(target), secrets };
}

function nobodyCan(name: string, why: string): GoondanError {
  return new GoondanError('E_MCP_SIGN_IN', `Nobody can sign in to MCP server "${name}": ${why}.`, {
    suggestion: 'Only servers over HTTP have a sign-in: `gdn mcp list` lists the servers.',
  });
}

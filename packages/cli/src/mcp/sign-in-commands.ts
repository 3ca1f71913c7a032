/** `gdn mcp login`, `logout` and `status`. */
import { createInterface } from 'node:readline';
import { describeSignIn, SignInFile, signInPerson, type SignInStatus, signOut } from '@goondan/base/mcp';
import { maskSecrets } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { harmlessLines } from '../harmless-text.ts';
import type { Result } from '../gdn-command.ts';
import { showTime } from '../show-time.ts';
import { openBrowser } from '../studio/open-browser.ts';
import type { Terminal } from '../terminal.ts';
import {
  type FoundSignIn,
  findTrustedSignIn,
  type ListedSignIn,
  listSignIns,
  type SignInRequest,
} from './find-sign-in.ts';

export interface LoginRequest extends SignInRequest {
  readonly scope?: readonly string[];
  /** False if `--no-open` was given. */
  readonly open?: boolean;
}

/** The time that a person has to sign in. */
const LONGEST_MS = 10 * 60_000;

/** An item of `gdn mcp status --json`, and the result of `gdn mcp login --json`. Fields are never renamed. */
interface ShownSignIn extends SignInStatus {
  readonly name: string;
  readonly url: string;
}

export async function login(
  { scope = [], open = true, ...request }: LoginRequest,
  name: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Result> {
  const found = await findTrustedSignIn(request, name, terminal, signal);
  const typed = createInterface({ input: process.stdin, terminal: false });
  const show = (url: string) => {
    terminal.printError(`Open this address to sign in to "${found.name}" (${found.address}):\n\n  ${url}\n\n`);
    const paste =
      'On another machine, open it there, and paste the address of the page that cannot be shown at the end.\n';
    terminal.printError(`Waiting for the sign-in. Ctrl-C ends it.${terminal.isTyped ? ` ${paste}` : '\n'}`);
    // Only a person who sees the address may get a browser window.
    if (open && terminal.canAsk) openBrowser(url);
  };
  try {
    const signedIn = await signInPerson({
      name: found.name,
      target: found.target,
      scopes: scope,
      show,
      pasted: typed,
      onWrongPaste: () => terminal.printError('That is not the address at the end of this sign-in.\n'),
      timeoutMs: LONGEST_MS,
      signal,
    });
    const shown = toShown(found, signedIn);
    return { json: shown, text: describe(shown, terminal) };
  } catch (error) {
    throw toError(error, found, signal);
  } finally {
    typed.close();
  }
}

export async function logout(
  request: SignInRequest,
  name: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Result> {
  const found = await findTrustedSignIn(request, name, terminal, signal);
  try {
    const { target } = found;
    const done = await signOut(target.url, target.oauth, signal);
    const json = { name: found.name, url: found.address, ...done };
    if (!done.wasSignedIn) return { json, text: `Nobody was signed in to "${found.name}".\n` };
    const { problem = '' } = done;
    const revoked = done.revoked ? 'The tokens were revoked.' : `The tokens were not revoked: ${problem}.`;
    return { json, text: harmlessLines(`Signed out of "${found.name}". ${revoked}\n`) };
  } catch (error) {
    throw toError(error, found, signal);
  }
}

export async function status(request: SignInRequest, name: string | undefined, terminal: Terminal): Promise<Result> {
  const listed = (await listSignIns(request, name, terminal)).map(read);
  const lines = listed.map(({ name: server, shown, problem }) =>
    shown === undefined
      ? `"${server}": ${problem?.message ?? ''} (${problem?.code ?? ''})\n`
      : describe(shown, terminal),
  );
  const json = listed.map(({ name: server, shown, problem }) =>
    shown === undefined ? { name: server, problem: { code: problem?.code, message: problem?.message } } : shown,
  );
  return { json, text: harmlessLines(lines.join('')) || 'No agent uses an MCP server.\n' };
}

function read({ name, found, problem }: ListedSignIn) {
  try {
    const { target } = found ?? {};
    if (found === undefined || target === undefined) return { name, problem };
    return { name: found.name, shown: toShown(found, describeSignIn(new SignInFile(target.oauth.place).read())) };
  } catch (error) {
    if (GoondanError.is(error)) return { name, problem: error };
    throw error;
  }
}

function toShown({ name, address }: FoundSignIn, shown: SignInStatus): ShownSignIn {
  return { name, url: address, ...shown };
}

function describe(
  { name, url, signedIn, issuer, scopes, expiresAt, renewable, demanded }: ShownSignIn,
  terminal: Pick<Terminal, 'isWatched' | 'suggest'>,
): string {
  const lines = [
    `"${name}" (${url}): ${signedIn ? 'signed in' : 'not signed in'}`,
    ...(issuer === undefined ? [] : [`  issuer: ${issuer}`]),
    ...(signedIn ? [`  scopes: ${scopes.join(' ') || 'those that the server chose'}`] : []),
    ...(expiresAt === undefined
      ? []
      : [`  access until: ${showTime(expiresAt, terminal)}${renewable ? ', then renewed' : ''}`]),
    ...(demanded === undefined
      ? []
      : [`  the server demands a sign-in: ${terminal.suggest(`\`gdn mcp login ${name}\``)}`]),
  ];
  return harmlessLines(`${lines.join('\n')}\n`);
}

function toError(error: unknown, { name, secrets }: FoundSignIn, signal: AbortSignal): unknown {
  if (signal.aborted) {
    return new GoondanError('E_CANCELLED', `The command for "${name}" was ended early. Nothing was changed.`, {
      suggestion: 'Run the command again to retry.',
    });
  }
  if (!GoondanError.is(error)) return error;
  const mask = maskSecrets(secrets);
  return new GoondanError(error.code, mask(error.message), { suggestion: error.suggestion, cause: error });
}

/**
 * Lets a person sign in while a call waits: the person opens the page of the sign-in, and the call goes on when the redirect
 * of the browser arrives. So the browser must run on the machine of the agent; elsewhere `gdn mcp login` helps: the call goes
 * on when that command has stored its sign-in.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { GoondanError, type PersonApi } from '@goondan/types';
import { cleanText } from '../../../text/clean-text.ts';
import type { SignInDuringCall } from '../mcp-server.ts';
import type { HttpTarget } from '../server-target.ts';
import { unlessAborted } from '../unless-aborted.ts';
import type { OauthTarget } from './server-sign-in.ts';
import { type SignIn, SignInFile } from './sign-in-file.ts';
import { signInPerson } from './sign-in-person.ts';

/** How long a person may take. */
const LONGEST_WAIT_MS = 3_600_000;
/** The first pause between a yes and the next question, in which the browser may come back. */
const FIRST_PAUSE_MS = 1_000;
/** The longest such pause. During it nobody can decline, and a stop waits. */
const LONGEST_PAUSE_MS = 8_000;
/** How often the file of the sign-in is read. */
const LOOK_EVERY_MS = 500;
/** The maximum length of the reason for a sign-in. The person also reads how to sign in. */
const LONGEST_REASON = 600;

/**
 * Returns the function that lets people sign in. Calls that wait at the same time wait for one sign-in. If the call that asked
 * is cancelled, another one asks again. `pause`: waits between two questions, and rejects when the signal aborts.
 */
export function signInDuringCalls(name: string, pause: Pause = sleepUnlessAborted): SignInDuringCall {
  let running: { readonly signedIn: Promise<boolean>; readonly signal: AbortSignal } | undefined;
  const begin = (question: SignInQuestion) => {
    const signedIn = askSignIn(question).finally(() => void (running = undefined));
    return { signedIn, signal: question.signal };
  };
  return async (why, target, { person, signal }) => {
    if (target.type !== 'http' || target.oauth === undefined || target.oauth.grant === 'client_credentials')
      return false;
    const question = { name, why, target: { ...target, oauth: target.oauth }, person, signal, pause };
    for (;;) {
      running ??= begin(question);
      const { signedIn, signal: asking } = running;
      try {
        return await unlessAborted(signedIn, signal);
      } catch (error) {
        if (signal.aborted || !asking.aborted) throw error;
      }
    }
  };
}

type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

const sleepUnlessAborted: Pause = (ms, signal) => sleep(ms, undefined, { signal });

interface SignInQuestion {
  readonly name: string;
  readonly why: string;
  readonly target: HttpTarget & { readonly oauth: OauthTarget };
  readonly person: PersonApi;
  readonly signal: AbortSignal;
  readonly pause: Pause;
}

/** Asks a person. Returns false if nobody wants to sign in, or nobody can be asked. **Errors** — those of `signInPerson`. */
async function askSignIn({ name, why, target, person, signal, pause }: SignInQuestion): Promise<boolean> {
  const arrived = new AbortController();
  const declined = new AbortController();
  const signedIn = new AbortController();
  const show = async (url: string) => {
    let reason = `${cleanText(why, LONGEST_REASON)} ${howTo(name)}`;
    // A person who has opened the page still has to sign in there. So the question is asked again, less and less often, in
    // case that a program says yes at once.
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const about = { reason, url, server: name, expiresInMs: LONGEST_WAIT_MS, signal: arrived.signal };
      const { outcome, note } = await person.ask(about);
      if (outcome !== 'answered') return declined.abort(note);
      await pause(pauseMs, arrived.signal);
      reason = stillWaiting(name);
    }
  };
  void waitForSignIn(new SignInFile(target.oauth.place), arrived.signal).then((found) => found && signedIn.abort());
  try {
    await signInPerson({
      name,
      target,
      show: (url) => void show(url).catch(() => declined.abort()),
      pasted: nothing(),
      onWrongPaste: () => undefined,
      timeoutMs: LONGEST_WAIT_MS,
      signal: AbortSignal.any([signal, declined.signal, signedIn.signal]),
    });
    return true;
  } catch (error) {
    if (signedIn.signal.aborted) return true;
    // A question also ends with its call. Then another call may ask.
    if (signal.aborted || !declined.signal.aborted) throw error;
    const note: unknown = declined.signal.reason;
    if (typeof note !== 'string') return false;
    throw new GoondanError('E_MCP_SIGN_IN', `${why} A person declined to sign in, and said: ${note}`, { cause: error });
  } finally {
    // Nobody has to answer any more.
    arrived.abort(new Error('The sign-in is over.'));
  }
}

/** The last page of a sign-in leads to this machine, so a browser of another one cannot show it. */
function howTo(name: string): string {
  return `Sign in on the page, in a browser on the machine of the agent, or run \`gdn mcp login ${name}\` there: the call then goes on by itself.`;
}

function stillWaiting(name: string): string {
  return `You opened the page of MCP server "${name}", but its sign-in has not arrived yet. Sign in there, or run \`gdn mcp login ${name}\`: the call then goes on by itself. Deny this question to give up.`;
}

/**
 * Returns true as soon as another process has stored new tokens with the demanded scopes; false when the signal aborts. A file
 * that cannot be read has no tokens.
 */
async function waitForSignIn(file: SignInFile, signal: AbortSignal): Promise<boolean> {
  const before = readOrNothing(file);
  const demanded = before.demand?.scope?.split(' ') ?? [];
  while (!signal.aborted) {
    const { tokens } = readOrNothing(file);
    const granted = tokens?.scope?.split(' ') ?? demanded;
    const isNew = tokens !== undefined && tokens.access_token !== before.tokens?.access_token;
    if (isNew && demanded.every((scope) => granted.includes(scope))) return true;
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function readOrNothing(file: SignInFile): SignIn {
  try {
    return file.read();
  } catch {
    return {};
  }
}

/** Nobody pastes an address. */
async function* nothing(): AsyncGenerator<string> {}

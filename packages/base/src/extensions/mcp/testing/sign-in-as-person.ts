/** For tests: signs in at a server in this process, with a person who opens each address at once. */
import { join } from 'node:path';
import { resolveTarget } from '../resolve-target.ts';
import { signInPerson } from '../sign-in/sign-in-person.ts';
import type { OauthSettings } from '../sign-in/oauth-settings.ts';
import type { SignInStatus } from '../sign-in/sign-in-status.ts';
import type { ServerPlace } from './server-place.ts';

export interface TestSignIn {
  readonly url: string;
  readonly bundleFolder: string;
  readonly stateRoot: string;
  readonly oauth?: OauthSettings;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A sign-in of a bundle in the folder of the place. */
export function signInAt(place: ServerPlace, url: string, more: Partial<TestSignIn> = {}): TestSignIn {
  return { url, bundleFolder: place.folder, stateRoot: join(place.folder, 'state'), ...more };
}

/** Resolves the target of a server, as an agent of the bundle would. */
export async function targetOf({ url, bundleFolder, stateRoot, oauth, environment }: TestSignIn) {
  const transport = { type: 'http' as const, url, ...(oauth === undefined ? {} : { oauth }) };
  const target = await resolveTarget(
    { transport, file: { server: 'server', folder: 'bundle' } },
    { bundleFolder, workdir: bundleFolder, environment: { ...environment, GOONDAN_STATE_ROOT: stateRoot } },
  );
  if (target.type !== 'http' || target.oauth === undefined) throw new Error('The server has no sign-in.');
  return { ...target, oauth: target.oauth };
}

export async function signInAsPerson(
  server: TestSignIn,
  visit: (address: string) => Promise<unknown> = async (address) => (await fetch(address)).text(),
  signal: AbortSignal = new AbortController().signal,
): Promise<SignInStatus> {
  return signInPerson({
    name: 'server',
    target: await targetOf(server),
    show: (address) => void visit(address),
    pasted: nothing(),
    onWrongPaste: () => undefined,
    timeoutMs: 60_000,
    signal,
  });
}

async function* nothing(): AsyncGenerator<string> {
  // Nobody pastes anything.
}

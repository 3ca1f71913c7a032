/**
 * The file with the sign-in of one server: its tokens, and the client that was registered for them.
 *
 * 1. The file has mode 0600, in a folder with mode 0700. A file that other users own or could read is not used.
 * 2. It is replaced as a whole, so a reader never sees a part of it.
 * 3. It belongs to one address of one server in one bundle: its name is a hash of them, and it repeats them. Another server
 *    never gets these tokens.
 * 4. Only the holder of its lock writes it. The lock ends with its process.
 */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { GoondanError, type JsonObject } from '@goondan/types';
import { isObject } from '../../../json/is-object.ts';
import type { Environment } from '../../../process-tree/child-environment.ts';
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '../sdk.ts';
import { withFileLock } from './file-lock.ts';

/** The place of a sign-in, and the server that it belongs to. */
export interface SignInPlace {
  readonly path: string;
  readonly url: string;
  readonly bundle: string;
}

export interface SignIn {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  /** The time when the tokens were received, in milliseconds. */
  readonly receivedAt?: number;
  /** The demand of the server that a person has to meet by signing in. */
  readonly demand?: Demand;
}

/** A demand of a server, from its header `WWW-Authenticate`. */
export interface Demand {
  readonly scope?: string;
  readonly resourceMetadataUrl?: string;
}

const VERSION = 1;
const MOST_BYTES = 1_000_000;
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Returns the place of the sign-in of a server, below the state root of the process. */
export function signInPlace(url: string, bundle: string, environment: Environment): SignInPlace {
  const { GOONDAN_STATE_ROOT: root, HOME: home = homedir() } = environment;
  const name = new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([bundle, url]))
    .digest('hex')
    .slice(0, 32);
  return { path: join(root || join(home, '.goondan'), 'mcp', `${name}.json`), url, bundle };
}

export class SignInFile {
  constructor(readonly place: SignInPlace) {}

  /** Reads the sign-in; an empty one if there is no file. **Errors** — `E_MCP_TOKENS`. */
  read(): SignIn {
    const text = this.#readText();
    return text === undefined ? {} : this.#parse(text);
  }

  /** Replaces the sign-in. The caller holds the lock. **Errors** — `E_MCP_TOKENS`. */
  write(signIn: SignIn): void {
    const { path, url, bundle } = this.place;
    const draft = `${path}.next`;
    try {
      this.#makeFolder();
      // A process that was killed can have left one.
      rmSync(draft, { force: true, recursive: true });
      const descriptor = openSync(draft, O_WRONLY | O_CREAT | O_EXCL, 0o600);
      try {
        fchmodSync(descriptor, 0o600);
        writeFileSync(descriptor, `${JSON.stringify({ version: VERSION, url, bundle, ...signIn })}\n`);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(draft, path);
    } catch (error) {
      throw this.#unusable(`it cannot be written (${codeOf(error)})`);
    }
  }

  /** Removes the sign-in. Returns false if there was none. The caller holds the lock. */
  remove(): boolean {
    const { path } = this.place;
    const wasThere = existsSync(path);
    for (const each of [path, `${path}.next`]) rmSync(each, { force: true });
    return wasThere;
  }

  /** Runs work while no other process of the machine writes the file. **Errors** — `E_MCP_TOKENS`, and those of `work`. */
  async lock<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    try {
      this.#makeFolder();
    } catch (error) {
      throw this.#unusable(`its folder cannot be made (${codeOf(error)})`);
    }
    const path = this.place.path.replace(/\.json$/, '.lock');
    return withFileLock(path, work, (problem) => this.#unusable(problem), signal);
  }

  #makeFolder(): void {
    const folder = dirname(this.place.path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }

  #readText(): string | undefined {
    let descriptor: number;
    try {
      // Without O_NONBLOCK, a pipe would block the process until somebody writes into it.
      descriptor = openSync(this.place.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw this.#unusable(`it cannot be read (${codeOf(error)})`);
    }
    try {
      const found = fstatSync(descriptor);
      const { mode, size, uid } = found;
      if (!found.isFile()) throw this.#unusable('it is not a file');
      if (uid !== (process.getuid?.() ?? uid)) throw this.#unusable('it belongs to another user');
      if ((mode & 0o077) !== 0) throw this.#unusable(`other users could read it: its mode is ${modeText(mode)}`);
      if (size > MOST_BYTES) throw this.#unusable(`it is larger than ${MOST_BYTES} bytes`);
      return readFileSync(descriptor, 'utf8');
    } finally {
      closeSync(descriptor);
    }
  }

  #parse(text: string): SignIn {
    const { url, bundle } = this.place;
    const value = parseObject(text);
    if (value?.version !== VERSION) throw this.#unusable('it is damaged');
    if (value.url !== url || value.bundle !== bundle) throw this.#unusable('it belongs to another server');
    const { client, tokens, receivedAt, demand } = value;
    const isDamaged =
      (client !== undefined && !(isObject(client) && typeof client.client_id === 'string')) ||
      (tokens !== undefined && !(isObject(tokens) && typeof tokens.access_token === 'string')) ||
      (demand !== undefined && !isObject(demand)) ||
      (receivedAt !== undefined && typeof receivedAt !== 'number');
    if (isDamaged) throw this.#unusable('it is damaged');
    return value;
  }

  #unusable(problem: string): GoondanError {
    return new GoondanError('E_MCP_TOKENS', `The sign-in in ${this.place.path} cannot be used: ${problem}.`);
  }
}

/** Lists the secrets of a sign-in, for masking; none if the file cannot be used. */
export function secretsIn(place: SignInPlace): readonly string[] {
  try {
    const { tokens, client } = new SignInFile(place).read();
    const secrets = [tokens?.access_token, tokens?.refresh_token, client?.client_secret];
    return secrets.filter((secret) => secret !== undefined);
  } catch {
    return [];
  }
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function modeText(mode: number): string {
  return `0${(mode & 0o777).toString(8)}`;
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}

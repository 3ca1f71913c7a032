/** Converts the arguments of `gdn mcp add` to an entry of `.mcp.json`. */
import { expandVariables, type ServerEntry } from '@goondan/base/mcp';
import { GoondanError } from '@goondan/types';

export interface AddOptions {
  readonly url?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
}

const namePattern = /^[a-z][a-z0-9-]{0,39}$/;

/** **Errors** — `E_USAGE`. */
export function readEntry(name: string, command: readonly string[], options: AddOptions): ServerEntry {
  const { url, env = [], header = [], cwd } = options;
  const [program, ...args] = command;
  if (!namePattern.test(name)) {
    throw usage(
      `"${name}" is not a name for a server.`,
      'Use at most 40 lower-case letters, digits and -, starting with a letter. ' +
        'The names of its tools begin with this name.',
    );
  }
  if ((program === undefined) === (url === undefined)) {
    const example = `gdn mcp add ${name} -- npx -y some-server`;
    throw usage('Give the command that starts the server, or its address with --url.', `For example: ${example}`);
  }
  if (url !== undefined) {
    if (env.length > 0 || cwd !== undefined)
      throw usage('--env and --cwd are for a command, not for --url.', 'Use --header.');
    if (!url.includes('${') && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw usage(`"${url}" is no http(s) URL.`, 'Write the full URL, for example https://mcp.example.com/mcp.');
    }
    return { type: 'http', url, ...pairs('headers', header, /^[\w!#$%&'*+.^`|~-]+$/) };
  }
  if (header.length > 0) throw usage('--header is for --url, not for a command.', 'Use --env.');
  return {
    command: program ?? '',
    ...(args.length === 0 ? {} : { args }),
    ...pairs('env', env, /^[A-Za-z_]\w*$/),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** Lists the variables that must be set to use this entry. */
export function variablesOf(entry: ServerEntry): string[] {
  const missing = new Set<string>();
  const known = new Set(['GOONDAN_BUNDLE', 'GOONDAN_WORKDIR']);
  for (const text of textsOf(entry)) expandVariables(text, (name) => (known.has(name) ? name : undefined), missing);
  return [...missing];
}

function textsOf(entry: ServerEntry): string[] {
  if (entry.type === 'http') {
    const { url, headers = {}, oauth = {} } = entry;
    const texts = oauth === false ? [] : Object.values(oauth).filter((value) => typeof value === 'string');
    return [url, ...Object.values(headers), ...texts];
  }
  const { command, args = [], env = {}, cwd = '' } = entry;
  return [command, ...args, ...Object.values(env), cwd];
}

/** Reads `NAME=value`. A `NAME` alone becomes `NAME=${NAME}`, a reference to the environment variable. */
function pairs<Field extends string>(
  field: Field,
  written: readonly string[],
  pattern: RegExp,
): Partial<Record<Field, Record<string, string>>> {
  if (written.length === 0) return {};
  const entries = written.map((text): [string, string] => {
    const at = text.indexOf('=');
    const name = at === -1 ? text : text.slice(0, at);
    if (!pattern.test(name)) throw usage(`"${text}" is not NAME=value.`, 'For example: --env TOKEN=abc');
    return [name, at === -1 ? `\${${name}}` : text.slice(at + 1)];
  });
  // The cast is safe: the object has exactly this key.
  return { [field]: Object.fromEntries(entries) } as Partial<Record<Field, Record<string, string>>>;
}

function usage(message: string, suggestion: string): GoondanError {
  return new GoondanError('E_USAGE', message, { suggestion });
}

/** The address of the database in which a swarm on many machines keeps its conversations. */
import { existsSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import { readSecretText } from './read-secret-text.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns a function that reads the address again; `undefined` when there is none. Only a file can have another address than
 * before. **Errors** — those of `readStoreAddress`, also of the function.
 */
export function storeAddressReader(option: string | undefined, environment: Environment): (() => string) | undefined {
  const address = readStoreAddress(option, environment);
  if (address === undefined) return undefined;
  const isFile = (option ?? environment['GOONDAN_STORE'] ?? '').startsWith('@');
  return isFile ? () => readStoreAddress(option, environment) ?? address : () => address;
}

/**
 * Returns the address from `--store`, or else from `GOONDAN_STORE`; `undefined` when neither is set. Both may be `@` and
 * the path of a private file. `name`: the option as the user types it.
 *
 * **Errors** — `E_STORE_ADDRESS`, also for a password on the command line, which every user of the machine could read.
 */
export function readStoreAddress(
  option: string | undefined,
  environment: Environment,
  name: '--store' | '--database' = '--store',
): string | undefined {
  if (option !== undefined) {
    const isFile = option.startsWith('@');
    const text = readSecretText(option, 'The address of the store', 'E_STORE_ADDRESS');
    const address = checkAddress(text, isFile ? `the file "${option.slice(1)}"` : name, isFile ? undefined : option);
    if (!isFile) refusePassword(address, name);
    return address;
  }
  const given = environment['GOONDAN_STORE'];
  if (given === undefined || given === '') return undefined;
  return checkAddress(readSecretText(given, 'The address in GOONDAN_STORE', 'E_STORE_ADDRESS'), sourceOf(given));
}

function sourceOf(given: string): string {
  return given.startsWith('@') ? `the file "${given.slice(1)}" that GOONDAN_STORE names` : 'GOONDAN_STORE';
}

/** Returns the address for people: without a password, and without further settings. */
export function showAddress(address: string): string {
  const { user, hosts = '', database = '' } = partsOf(address);
  return `postgres://${user === undefined ? '' : `${user}@`}${hosts}/${database}`;
}

/** Returns the passwords of an address, as they are written and as the database gets them. */
export function passwordsIn(address: string): readonly string[] {
  const { password, settings = '' } = partsOf(address);
  const given = [password, new URLSearchParams(settings).get('password')];
  const found = given.flatMap((each) => (each === undefined || each === null || each === '' ? [] : [each]));
  return [...new Set(found.flatMap((each) => [each, decoded(each)]))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the servers with their ports, and the database. Users of the same database get the same text. */
export function placeOf(address: string): string {
  const { hosts = '', database = '' } = partsOf(address);
  const servers = hosts.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:5432`));
  return `${servers.join(',').toLowerCase()}/${database}`;
}

/** The package `@goondan/postgres` checks the address in full. It is loaded only when the store is opened. */
const FORM =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@]*)(?::(?<password>.*))?@)?(?<hosts>[^@/?#]*)\/(?<database>[^/?#]+)(?:\?(?<settings>[^#]*))?$/s;

function partsOf(address: string): Readonly<Record<string, string | undefined>> {
  return FORM.exec(address)?.groups ?? {};
}

/**
 * The message never repeats the address, which may have a password. `typed`: the text of a command line, which may be the
 * name of a file without its `@`.
 */
function checkAddress(address: string, source: string, typed?: string): string {
  if (partsOf(address)['database'] !== undefined) return address;
  const start = `The address of the store, from ${source}, is not of the form postgres://user@host/database`;
  if (/^["']/.test(address)) {
    const suggestion = 'Write the address without quotation marks.';
    throw new GoondanError('E_STORE_ADDRESS', `${start}: it begins with a quotation mark.`, { suggestion });
  }
  if (typed === undefined || !existsSync(typed)) {
    const suggestion = 'Write it as `postgres://user:password@host/database`.';
    throw new GoondanError('E_STORE_ADDRESS', `${start}.`, typed === undefined ? { suggestion } : {});
  }
  const suggestion = `There is a file of this name. To read the address from it, type \`@${typed}\`.`;
  throw new GoondanError('E_STORE_ADDRESS', `${start}.`, { suggestion });
}

function refusePassword(address: string, name: '--store' | '--database'): void {
  const { password, settings } = partsOf(address);
  if (password === undefined && !new URLSearchParams(settings ?? '').has('password')) return;
  throw new GoondanError(
    'E_STORE_ADDRESS',
    'The address of the store has a password, and every user of this machine can read the command line.',
    {
      suggestion:
        name === '--store'
          ? 'Put the address into GOONDAN_STORE, or into a file with mode 600 and type `--store @FILE`.'
          : 'Put the address into a file with mode 600 and type `--database @FILE`.',
    },
  );
}

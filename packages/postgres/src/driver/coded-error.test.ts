import { expect, test } from 'bun:test';
import { StoreAddress } from './address.ts';
import { codedError, isElsewhere, storeAway } from './coded-error.ts';

const address = StoreAddress.parse('postgres://gdn:hush@one.example:6000,two.example/gdn');

function fromServer(errno: string, message: string) {
  return codedError(Object.assign(new Error(message), { code: 'ERR_POSTGRES_SERVER_ERROR', errno }), address);
}

test.each([
  ['28P01', 'E_STORE_ADDRESS', 'the password'],
  ['3D000', 'E_STORE_ADDRESS', 'createdb'],
  ['53300', 'E_STORE_AWAY', 'max_connections'],
  ['57P03', 'E_STORE_AWAY', 'Check that the database runs'],
] as const)('the suggestion for %s fits', (state, code, hint) => {
  const error = fromServer(state, 'No.');
  expect(error.code).toBe(code);
  expect(error.message).toContain(`No. (${state})`);
  expect(error.suggestion).toContain(hint);
  expect(error.suggestion).not.toContain('without a password');
});

test('a database that is away is named by its hosts and ports, without the password', () => {
  const error = codedError(new Error('Failed to connect as hush'), address);
  expect(error.message).toBe(
    'The database at one.example:6000,two.example:5432 cannot be reached: Failed to connect as ***',
  );
});

test.each([
  ['26000', 'prepared statement "P1" does not exist'],
  ['42P05', 'prepared statement "P1" already exists'],
  ['08P01', 'bind message supplies 1 parameters, but prepared statement "P1" requires 0'],
  ['08P01', 'unsupported startup parameter: statement_timeout'],
])('%s of a pooler says what to add to the address: %s', (state, message) => {
  const error = fromServer(state, message);
  expect(error.code).toBe('E_STORE_ADDRESS');
  expect(error.suggestion).toContain('prepare=false');
});

test('S-10 only an error of a connection leads to another host', () => {
  expect(isElsewhere(fromServer('25006', 'No.'), 1)).toBe(true);
  // All connections are in use.
  expect(isElsewhere(storeAway('busy'), 2)).toBe(false);
});

import { openDatabase } from '../driver/database.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { expect, test } from '../testing/with-postgres.ts';
import { checkSchema, makeTables, readVersion, SCHEMA_VERSION } from './make-tables.ts';

test('two programs may make the tables at the same time', async () => {
  const made = await makeTestDatabase({ hasTables: false });
  const databases = [openDatabase(made.address), openDatabase(made.address)] as const;
  try {
    expect(await readVersion(databases[0])).toBe(0);
    await Promise.all(databases.map((database) => makeTables(database)));
    expect(await readVersion(databases[0])).toBe(SCHEMA_VERSION);
    await makeTables(databases[1]);
    await checkSchema(databases[0]);
  } finally {
    for (const database of databases) await database.close();
    await made.drop();
  }
});

test('tables of another version are refused, and stay as they are', async () => {
  const made = await makeTestDatabase();
  const database = openDatabase(made.address);
  try {
    const other = { code: 'E_STORE_SCHEMA', message: expect.stringContaining('have version 9, and') };
    await database.query('update gdn_schema set version = 9');
    expect(await checkSchema(database).catch((error: unknown) => error)).toMatchObject(other);
    expect(await makeTables(database).catch((error: unknown) => error)).toMatchObject(other);
    expect(await readVersion(database)).toBe(9);
  } finally {
    await database.close();
    await made.drop();
  }
});

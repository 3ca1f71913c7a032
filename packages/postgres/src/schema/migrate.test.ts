import { expect, test } from '../testing/with-postgres.ts';
import { openDatabase } from '../driver/database.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { migrate, readVersion } from './migrate.ts';
import { SCHEMA_VERSION } from './migrations.ts';

test('two programs may make the tables at the same time', async () => {
  const made = await makeTestDatabase({ migrated: false });
  const databases = [openDatabase(made.address), openDatabase(made.address)] as const;
  try {
    expect(await readVersion(databases[0])).toBe(0);
    await Promise.all(databases.map((database) => migrate(database)));
    expect(await readVersion(databases[0])).toBe(SCHEMA_VERSION);
    expect(await migrate(databases[1])).toBe(SCHEMA_VERSION);
  } finally {
    for (const database of databases) await database.close();
    await made.drop();
  }
});

/** `@goondan/postgres`: the store of a swarm that runs on many machines. `gdn` loads it when a store address is given. */
export { openDatabase } from './driver/database.ts';
export { migrate, readVersion } from './schema/migrate.ts';
export { SCHEMA_VERSION } from './schema/migrations.ts';
export { openSwarms } from './store/directory.ts';
export { importFiles, type ImportedFiles, type ImportOptions, type ImportResult } from './store/import-files.ts';
export { openPostgresReader, openPostgresSwarms, readersOf } from './store/open-reader.ts';

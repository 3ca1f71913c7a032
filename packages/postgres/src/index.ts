/** `@goondan/postgres`: the store of a swarm that runs on many machines. `gdn` loads it when a store address is given. */
export { LEASE_MS, postgresSource, type PostgresSourceOptions } from './cluster-source.ts';
export { openDatabase } from './driver/database.ts';
export { PostgresDeployments } from './nodes/deployments.ts';
export { drainNode, listNodes } from './nodes/node-rows.ts';
export { readStatus, type StoreStatus, type SwarmStatus } from './nodes/store-status.ts';
export {
  addToken,
  checkNewToken,
  type ListedToken,
  listTokens,
  type NewToken,
  postgresTokens,
  removeToken,
} from './nodes/tokens.ts';
export { checkSchema, makeTables, readVersion } from './schema/make-tables.ts';
export { openSwarms } from './store/directory.ts';
export { importFiles, type ImportedFiles, type ImportOptions, type ImportResult } from './store/import-files.ts';
export { openPostgresQuestions } from './store/open-questions.ts';
export { openPostgresReader, openPostgresSwarms, readersOf } from './store/open-reader.ts';
export { channelOf } from './store/wake-channel.ts';

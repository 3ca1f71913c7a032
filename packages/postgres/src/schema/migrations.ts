/** The versions of the tables, in order. A version never changes once it is released. */
import { counterTables } from './counter-tables.ts';
import { fileTables } from './file-tables.ts';
import { instanceTables } from './instance-tables.ts';
import { nodeTables } from './node-tables.ts';
import { recordTables } from './record-tables.ts';
import { usageTables } from './usage-tables.ts';

export interface Migration {
  readonly version: number;
  readonly statements: string;
}

export const migrations: readonly Migration[] = [
  { version: 1, statements: `${instanceTables}${nodeTables}${recordTables}` },
  { version: 2, statements: usageTables },
  { version: 3, statements: fileTables },
  { version: 4, statements: counterTables },
];

/** The version that this program needs. */
export const SCHEMA_VERSION = migrations.at(-1)?.version ?? 0;

import type { Database, Row, Value } from '../driver/database.ts';

/** A database that counts its statements, for tests of how much work something is. */
export interface CountedDatabase extends Database {
  /** The first lines of the statements since the last call of `take`, in order. */
  take(): readonly string[];
}

export function countStatements(database: Database): CountedDatabase {
  let statements: string[] = [];
  return {
    query<Found extends Row>(statement: string, values?: readonly Value[]) {
      statements.push(statement.trim().split('\n').slice(0, 2).join(' '));
      return database.query<Found>(statement, values);
    },
    listen: (channel, heard) => database.listen(channel, heard),
    close: () => database.close(),
    take() {
      const taken = statements;
      statements = [];
      return taken;
    },
  };
}

/** The whole content of a database as text, to search it for secrets. Compressed chunks are unpacked. */
import type { Database } from '../driver/database.ts';
import { unpackLines } from '../store/pack-lines.ts';

export async function dumpDatabase(database: Database): Promise<string> {
  const tables = await database.query<{ readonly name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' order by table_name`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query(`select * from "${name}"`);
    for (const row of rows) {
      const values = await Promise.all(Object.values(row).map(textOf));
      texts.push(`${name}\t${values.join('\t')}\n`);
    }
  }
  return texts.join('');
}

async function textOf(value: unknown): Promise<string> {
  if (!(value instanceof Uint8Array)) return String(value);
  const unpacked = await unpackLines(value).catch(() => '');
  return `${unpacked} ${Buffer.from(value).toString('latin1')}`;
}

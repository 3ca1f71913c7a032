/** The database of `gdn cluster dev`: an own server on this machine, or a database that the user has. */
import { randomBytes } from 'node:crypto';
import { openDatabase } from '@goondan/postgres';
import { makeTemporaryFolder } from '../../temporary-folder.ts';
import { readStoreAddress } from '../store-address.ts';

export interface DevDatabase {
  /** The address, with its password. */
  readonly address: string;
  /** Ends the server and removes its files; does nothing to a database of the user. */
  remove(): Promise<void>;
}

/** **Errors** — `E_STORE_ADDRESS`; `E_POSTGRES_MISSING`, `E_PROCESS_START`. */
export async function openDevDatabase(given: string | undefined): Promise<DevDatabase> {
  const address = readStoreAddress(given, {}, '--database');
  if (address !== undefined) return { address, remove: async () => undefined };
  const { startServer } = await import('@goondan/postgres/embedded');
  // A folder of its own: PostgreSQL does not run as root, so that of root's command belongs to another user.
  const { folder, removeFolder } = await makeTemporaryFolder('gdn-postgres-');
  try {
    const server = await startServer({ folder, password: randomBytes(24).toString('base64url'), isTemporary: true });
    const remove = () => server.stop().finally(removeFolder);
    try {
      await makeDatabase(server.addressOf('postgres'));
    } catch (error) {
      await remove();
      throw error;
    }
    return { address: server.addressOf(NAME), remove };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

const NAME = 'goondan';

async function makeDatabase(address: string): Promise<void> {
  const database = openDatabase(address, { connections: 1 });
  try {
    await database.query(`create database ${NAME}`);
  } finally {
    await database.close();
  }
}

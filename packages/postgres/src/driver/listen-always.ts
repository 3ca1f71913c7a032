import type { StoreAddress } from './address.ts';
import { codedError } from './coded-error.ts';
import { connect, type ConnectOptions } from './connect.ts';
import { within } from './within.ts';

const FIRST_WAIT_MS = 50;
const MOST_WAIT_MS = 2000;

/**
 * Listens on a channel with a connection of its own. When the connection is cut, it is made again, with another host if
 * there are several: the driver would repeat the same host, and write to the console.
 */
export async function listenAlways(
  readAddress: () => StoreAddress,
  options: Pick<ConnectOptions, 'connectMs' | 'name'>,
  channel: string,
  heard: (payload: string) => void,
): Promise<{ end(): Promise<void> }> {
  let host = 0;
  const ending = new AbortController();
  let close: () => Promise<void> = async () => undefined;

  const listen = async (): Promise<void> => {
    let isListening = false;
    const onClosed = () => {
      void sql.close({ timeout: 0 }).catch(() => undefined);
      if (isListening) void listenAgain();
      isListening = false;
    };
    const address = readAddress();
    const sql = connect(address, { ...options, host, connections: 1, onClosed });
    close = () => sql.close({ timeout: 0 }).catch(() => undefined);
    try {
      await within(sql.listen(channel, heard), options.connectMs);
      isListening = true;
    } catch (error) {
      await close();
      throw codedError(error, address);
    }
  };
  const listenAgain = async () => {
    for (let waitMs = FIRST_WAIT_MS; !ending.signal.aborted; waitMs = Math.min(2 * waitMs, MOST_WAIT_MS)) {
      await new Promise((resolve) => void setTimeout(resolve, waitMs * (0.5 + Math.random() / 2)));
      host += 1;
      try {
        if (!ending.signal.aborted) return await listen();
      } catch {
        // The next attempt follows.
      }
    }
  };
  await listen();
  return {
    async end() {
      ending.abort();
      await close();
    },
  };
}

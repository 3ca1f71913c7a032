// Closes its connection before the process exits.
import type { ExtensionApi } from '@goondan/types';

/** Every connection that was made. */
export const connections: { closed: boolean }[] = [];

function createConnection() {
  const connection = {
    closed: false,
    async close() {
      await Bun.sleep(1);
      connection.closed = true;
    },
  };
  connections.push(connection);
  return connection;
}

// verbatim from seed 002, 6.3
export function register(api: ExtensionApi): void {
  // 리소스 할당
  const connection = createConnection();

  // process 이벤트 활용 (Bun 프로세스 종료 시)
  process.on('beforeExit', async () => {
    await connection.close();
  });
}
// end of verbatim

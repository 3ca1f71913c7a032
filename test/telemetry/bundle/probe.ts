/**
 * A tool that returns its input or throws. With one special input it waits for a file and then ends its process, but
 * only once.
 */
import { existsSync, writeFileSync } from 'node:fs';
import type { ToolHandler } from '@goondan/types';

const look: ToolHandler = async ({ traceparent = '', workdir }, { at, more = '' }) => {
  const mark = `${workdir}/died`;
  if (at === 'die' && !existsSync(mark)) {
    writeFileSync(mark, '');
    while (!existsSync(`${workdir}/die-now`)) await Bun.sleep(10);
    process.kill(process.pid, 'SIGKILL');
  }
  return { traceparent, said: 'RESULT-CANARY', more };
};

export const handlers: Record<string, ToolHandler> = {
  look,
  break: () => {
    throw Object.assign(new Error('FAILURE-CANARY'), { code: 'E_PROBE' });
  },
};

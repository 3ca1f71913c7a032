/** A connector that turns each posted request into an event, and responds when the event is accepted. */
import { renameSync, writeFileSync } from 'node:fs';
import type { Connector } from '@goondan/types';

const feed: Connector<{ portFile: string }> = async ({ emit, config, signal }) => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      // The cast is safe: torture.ts posted the request.
      const { id, key, input } = (await request.json()) as { id: string; key: string; input: string };
      try {
        await emit({ name: 'message', id, input, properties: { key } });
        return new Response('accepted', { status: 202 });
      } catch (error) {
        return new Response(String(error), { status: 503 });
      }
    },
  });
  writeFileSync(`${config.portFile}.next`, String(server.port));
  renameSync(`${config.portFile}.next`, config.portFile);
  signal.addEventListener('abort', () => void server.stop());
};
export default feed;

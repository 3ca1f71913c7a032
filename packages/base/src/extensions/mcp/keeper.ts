/**
 * The program of a keeper: holds the connection to one MCP server for the agent processes that reach its socket. It has
 * the environment of the agent, so `${NAME}` means the same in both.
 */
import { chmodSync, renameSync, rmSync } from 'node:fs';
import type { Keep } from '@goondan/types';
import { cleanText } from '../../text/clean-text.ts';
import { Caller } from './caller.ts';
import { systemClock } from './clock.ts';
import { KeptServer } from './kept-server.ts';
import { readSettings } from './mcp-settings.ts';
import { openClient } from './open-client.ts';

/** The maximum number of callers at a time; further ones are not let in. */
export const MOST_CALLERS = 1_024;

export const keep: Keep = async (context) => {
  const { name, config, socket, bundleFolder, logger, report } = context;
  const callers = new Set<Caller>();
  const server = new KeptServer(name, readSettings(config, name), {
    clock: systemClock,
    logger,
    // Read for each connection: a reload may change them.
    around: () => ({ bundleFolder, workdir: context.workdir, environment: process.env }),
    openClient: (events) =>
      openClient(events, {
        onServerLine: (line) => logger.debug(`mcp.server: ${cleanText(line, 2_000)}`),
        // The client removes them from everything that the server says.
        onSecrets: () => undefined,
      }),
    report,
    tell: (event, lastWords) => {
      for (const caller of callers) caller.tell(event, lastWords);
    },
  });
  const listener = listen(socket, server, callers, logger);
  return async () => {
    listener.stop(true);
    rmSync(socket, { force: true });
    for (const caller of callers) caller.close();
    await server.close();
  };
};

/** Listens at a socket that only its owner can open, under a draft name until its mode is set. */
function listen(path: string, server: KeptServer, callers: Set<Caller>, logger: Pick<Console, 'warn'>) {
  const draft = path.replace(/\.sock$/, '.next');
  rmSync(draft, { force: true });
  const mask = process.umask(0o077);
  try {
    const listener = Bun.listen<{ caller?: Caller }>({
      unix: draft,
      data: {},
      socket: {
        open(socket) {
          if (callers.size >= MOST_CALLERS) {
            logger.warn(`mcp.refused: a caller, because the server has ${MOST_CALLERS} callers.`);
            socket.terminate();
            return;
          }
          const caller = new Caller(socket, {
            server,
            onGone: (problem) => {
              callers.delete(caller);
              if (problem !== '') logger.warn(`mcp.cut_off: a caller was cut off: ${problem}.`);
            },
          });
          socket.data = { caller };
          callers.add(caller);
        },
        data: ({ data }, chunk) => data.caller?.frames.receive(chunk),
        drain: ({ data }) => data.caller?.frames.drain(),
        close: ({ data }) => data.caller?.frames.closed(),
        error: ({ data }) => data.caller?.frames.closed(),
      },
    });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
    return listener;
  } finally {
    process.umask(mask);
  }
}

/** `gdn studio`: serves the page until it is interrupted. */
import type { BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { readPrices } from '../read-prices.ts';
import { readVersion } from '../read-version.ts';
import { readableStateRoot } from '../state-root.ts';
import { onStopSignal, type StopSignal } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { openBrowser } from './open-browser.ts';
import { openSwarm } from './opened-swarm.ts';
import { serveStudio, type Studio } from './serve-studio.ts';

/**
 * Resolves after a stop signal. `opensBrowser`: opens a browser, if there is one. **Errors** — those of `openSwarm` and
 * `serveStudio`; `E_STATE_ROOT`; those of `readPrices`.
 */
export async function runStudio(
  request: BundleOptions & {
    readonly port?: number;
    readonly opensBrowser: boolean;
    /** The path of a price file. */
    readonly prices?: string;
  },
  terminal: Terminal,
): Promise<ExitCode> {
  const { port, opensBrowser, json = false, prices: priceFile, ...options } = request;
  const prices = priceFile === undefined ? undefined : await readPrices(priceFile);
  const stateRoot = readableStateRoot(options);
  const opened = await openSwarm(options, terminal.printError);
  const studio = serveStudio({
    stateRoot,
    version: readVersion(),
    report: terminal.printError,
    ...(options.cluster && { cluster: options.cluster }),
    ...(opened && { opened }),
    ...(prices && { prices }),
    ...(port !== undefined && { port }),
  });
  const ended = Promise.withResolvers<StopSignal>();
  const forget = onStopSignal(ended.resolve);
  try {
    // Fields of this JSON may be added, but are never renamed.
    if (json) terminal.print(`${JSON.stringify({ url: studio.url, pid: process.pid, stateRoot })}\n`);
    else greet(studio, opened?.swarm, terminal);
    if (opensBrowser && terminal.isWatched) openBrowser(studio.ticketUrl());
    return (await ended.promise) === 'SIGINT' ? exitCodes.interrupted : exitCodes.ok;
  } finally {
    forget();
    await studio.stop();
  }
}

function greet({ url }: Studio, swarm: string | undefined, { print, colors }: Terminal): void {
  const what = swarm === undefined ? 'Studio' : `Studio, with swarm "${swarm}",`;
  print(`${what} is at ${colors.bold(url)}\nAnyone with this link can talk to your swarms. Ctrl-C ends it.\n`);
}

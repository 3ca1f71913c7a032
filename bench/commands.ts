/** Measures the time of short `gdn` commands, with Node's launcher if npm installs one. */
import type { Figures } from './figures.ts';
import { timeGdn } from './gdn-time.ts';
import { startHost } from './start-host.ts';

export async function benchCommands(): Promise<Figures> {
  const host = startHost({ trace: 'on' });
  try {
    const place = ['--bundle', host.bundleFolder, '--state-root', host.stateRoot];
    await host.start();
    await host.ask('send', { prefix: 'one', keys: 1, messages: 1, atOnce: 1 });
    const help = await timeGdn(['--help']);
    const status = await timeGdn(['status', ...place]);
    await host.ask('stop');
    const stopped = await timeGdn(['status', ...place]);
    console.log('\ncommands, from start to end');
    for (const [name, milliseconds] of [
      ['gdn --help', help],
      ['gdn status, the swarm runs', status],
      ['gdn status, the swarm is stopped', stopped],
    ] as const) {
      console.log(`  ${name.padEnd(46)} ${milliseconds.toFixed(0).padStart(7)} ms`);
    }
    return { 'commands.help': help, 'commands.status': status };
  } finally {
    await host.end();
  }
}

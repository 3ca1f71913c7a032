// Tests every command once, with its exit code and the output on each stream. In `npm test`, a quarter of the commands has
// a process of its own; most other tests run commands in their own process.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openPlace } from '../testing/open-place.ts';
import { allCommands } from '../testing/run-captured.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { sampledCases } from '../../../../test/samples.ts';

const place = openPlace(afterAll);
beforeAll(async () => {
  await place.write('bundle', { 'goondan.yaml': sampleBundle({ script: `- { say: 'You said: {{input}}' }` }) });
});

/**
 * The command, its arguments, its exit code, and a part of the output on each stream; an empty text means no output.
 */
type Row = readonly [command: string, args: string, exitCode: number, stdout: string, stderr: string];

const bundle = '--bundle bundle';

/** The rows run in this order, because some commands prepare something for the next one. */
const rows: readonly Row[] = [
  ['init', 'new --no-git', 0, 'A new bundle is in ', ''],
  ['validate', 'bundle', 0, 'bundle: ', ''],
  ['status', bundle, 0, 'Swarm "default" is not running. Start it with `gdn run bundle --detach`.\n', ''],
  ['send', `${bundle} --input Hi`, 3, '', 'E_CONTROL_CLOSED: '],
  ['run', 'bundle --trust --input Hi', 0, 'You said: Hi\n', ''],
  ['explain', 'bundle', 0, 'host', ''],
  ['replay', `${bundle} --trust`, 0, 'No divergence: ', ''],
  ['trace', bundle, 0, 'asked\n', ''],
  ['usage', bundle, 0, 'from cache', ''],
  ['instance list', bundle, 0, 'host', ''],
  ['instance show', `host default ${bundle}`, 0, 'user  Hi\nassistant  You said: Hi\n', ''],
  ['instance export', `host default ${bundle}`, 0, '"messages"', ''],
  ['history', `host default ${bundle}`, 0, 'answered', ''],
  ['blame', `host default ${bundle}`, 0, 'Model/scripted', ''],
  ['fork', `host default ${bundle} --at 0 --as other`, 0, 'other', ''],
  ['instance delete', `host other ${bundle} --yes`, 0, 'other', ''],
  ['run', 'bundle --trust --detach', 0, '', 'Runs in the background: swarm "default", '],
  ['send', `${bundle} --input Hi --wait`, 0, 'You said: Hi\n', ''],
  ['status', bundle, 0, 'host', ''],
  ['ls', '', 0, 'running (', ''],
  ['approve', bundle, 0, 'Nothing is waiting for an answer.\n', ''],
  ['deny', `nothing ${bundle}`, 3, '', 'E_QUESTION_UNKNOWN: '],
  ['answer', `nothing x ${bundle}`, 3, '', 'E_QUESTION_UNKNOWN: '],
  ['cancel', bundle, 0, 'No such turn is running or waiting.\n', ''],
  ['changes list', bundle, 0, 'There are no changesets.\n', ''],
  ['changes show', `nothing ${bundle}`, 3, '', 'E_CHANGESET_UNKNOWN: '],
  ['changes discard', `nothing ${bundle}`, 3, '', 'E_CHANGESET_UNKNOWN: '],
  ['changes undo', `nothing ${bundle}`, 3, '', 'E_CHANGESET_UNKNOWN: '],
  ['reload', bundle, 0, 'othing', ''],
  ['restart', bundle, 0, 'estarted', ''],
  ['logs', bundle, 0, 'Swarm "default" runs', ''],
  ['deadletter list', bundle, 0, 'There are no dead letters.\n', ''],
  ['deadletter retry', `nothing ${bundle}`, 3, '', 'E_'],
  ['deadletter drop', `nothing ${bundle}`, 3, '', 'E_'],
  ['backup', `copies/one ${bundle}`, 0, 'Backed up ', ''],
  ['restore', `copies/one ${bundle} --state-root elsewhere`, 0, 'Restored ', ''],
  ['store init', '', 3, '', 'E_STORE_ADDRESS: '],
  ['store status', '', 3, '', 'E_STORE_ADDRESS: '],
  ['store import', 'bundle', 3, '', 'E_STORE_ADDRESS: '],
  ['store token add', 'ann', 3, '', 'E_STORE_ADDRESS: '],
  ['store token list', '', 3, '', 'E_STORE_ADDRESS: '],
  ['store token remove', 'ann', 3, '', 'E_STORE_ADDRESS: '],
  ['nodes drain', 'one', 3, '', 'E_STORE_ADDRESS: '],
  ['deploy', 'bundle', 3, '', 'E_STORE_ADDRESS: '],
  ['cluster dev', 'nowhere', 3, '', 'E_BUNDLE_MISSING: '],
  ['stop', bundle, 0, 'Stopped', ''],
  ['mcp add', `files ${bundle} -- true`, 0, 'files', ''],
  ['mcp list', bundle, 0, 'files', ''],
  ['mcp test', `files ${bundle} --trust`, 1, '', 'E_'],
  ['mcp status', bundle, 0, 'No agent uses an MCP server.\n', ''],
  ['mcp login', `files ${bundle} --trust`, 1, '', 'E_MCP_SIGN_IN: '],
  ['mcp logout', `files ${bundle} --trust`, 1, '', 'E_MCP_SIGN_IN: '],
  ['mcp approve', `files ${bundle}`, 0, 'files', ''],
  ['mcp remove', `files ${bundle}`, 0, 'files', ''],
  ['studio', `nowhere`, 3, '', 'E_BUNDLE_MISSING: '],
  ['doctor', '', 0, 'Bun', ''],
  ['doctor', '--bundle nowhere', 3, '', 'E_BUNDLE_MISSING: '],
  ['demo', '', 0, 'Seoul', 'Make it yours: '],
];

/**
 * The commands that get a process of their own. Every process of `gdn` starts in the same way, whatever its command, so
 * an eighth of them is enough for `npm test`.
 */
const own = new Set(sampledCases(rows, 8).map(([command, args]) => `${command} ${args}`));

describe('every command', () => {
  test.each(rows)('gdn %s %s: exit code %d', async (command, args, exitCode, stdout, stderr) => {
    const run = own.has(`${command} ${args}`) ? place.runProcessWith.bind(place) : place.runWith.bind(place);
    const typed = `${command} ${args}`.trim().split(' ');
    const env = { HOME: place.folder, TMPDIR: place.folder };
    const has = (text: string) => (text === '' ? '' : expect.stringContaining(text));
    expect(await run({ env }, ...typed)).toEqual({
      exitCode,
      stdout: has(stdout),
      stderr: has(stderr),
    });
  });

  test('is in this table', () => {
    const commands = allCommands().filter(({ command }) => command.commands.length === 0);
    expect([...new Set(rows.map(([command]) => command))].toSorted()).toEqual(
      commands.map(({ path }) => path.join(' ')).toSorted(),
    );
  });
});

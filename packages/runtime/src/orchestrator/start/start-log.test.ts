import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import type { LogLine } from '../../ports/log-line.ts';
import { systemClock } from '../../ports/clock.ts';
import { workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { openLog } from './start-log.ts';

const stateRoot = temporaryFolder();

test('S-10 a warning about the store is in the files and told to the program, and is not written to the store', async () => {
  mkdirSync(workspaceFolder(stateRoot, 'one'), { recursive: true });
  const endings = new AsyncDisposableStack();
  const [stored, told]: [LogLine[], LogLine[]] = [[], []];
  const onLog = (line: LogLine) => void told.push(line);
  const log = openLog({ stateRoot, workspaceId: 'one', clock: systemClock, endings, onLog });
  log.addSink({ write: (line) => void stored.push(line) });
  log.report('info', 'swarm.started', 'It runs.');
  log.warnOfStore('The password is wrong.');
  await endings.disposeAsync();
  const folder = join(workspaceFolder(stateRoot, 'one'), 'logs');
  const written = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(written.join('')).toContain('The password is wrong.');
  expect(told.map(({ event }) => event)).toEqual(['swarm.started', 'store.problem']);
  expect(stored.map(({ event }) => event)).toEqual(['swarm.started']);
});

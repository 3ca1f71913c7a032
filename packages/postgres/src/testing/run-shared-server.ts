/** The process of a server that all test processes of a run share. Arguments: the folder, the process of the run, the version. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { startTestServer } from './start-test-server.ts';
import { failureFile, portFile } from './shared-server.ts';

const [folder = '', run = '', major = ''] = process.argv.slice(2);

try {
  const { port } = await startTestServer(folder, major === '' ? undefined : Number(major));
  writeWhole(portFile(folder), String(port));
} catch (error) {
  writeWhole(failureFile(folder), String(error));
}
while (isAlive(Number(run))) await Bun.sleep(500);
// The end of this process ends the server, and removes the folder. Without a server, nothing else removes it.
if (existsSync(failureFile(folder))) rmSync(folder, { recursive: true });
process.exit();

/** Writes a file that nobody reads before it is complete. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

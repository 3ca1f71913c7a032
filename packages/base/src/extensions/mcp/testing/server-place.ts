/** For tests: a folder with a server in it, and functions to watch the server's processes. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';

const fileServer = join(import.meta.dir, 'file-server.ts');

export class ServerPlace implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-mcp-')));

  /**
   * Sets the tools that the MCP server of the test lists. They take effect when the server starts, or at the next call
   * of its tool `change`.
   */
  setTools(...tools: readonly (string | JsonObject)[]): void {
    const listed = tools.map((tool) => (typeof tool === 'string' ? toolOf(tool) : tool));
    writeFileSync(join(this.folder, 'tools.json'), JSON.stringify(listed));
  }

  write(file: string, value: unknown): void {
    writeFileSync(join(this.folder, file), typeof value === 'string' ? value : JSON.stringify(value));
  }

  /** The transport that starts the test's MCP server, which reads its tools from `tools.json`. */
  get transport(): JsonObject {
    return { type: 'stdio', command: [process.execPath, fileServer], args: [join(this.folder, 'tools.json')] };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function toolOf(name: string, description = `The tool ${name}.`, more: JsonObject = {}): JsonObject {
  return { name, description, inputSchema: { type: 'object' }, ...more };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie process still has an entry in /proc.
    return !process.getBuiltinModule('node:fs').readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}
